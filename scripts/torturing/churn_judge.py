"""What churn must not do: send a notification twice to a token or device, leave somebody out, or lose count."""

import collections

from apns_id import prefix_of

STATES = ["accepted", "rejected", "failed", "skipped", "unknown"]
# Nanoseconds: a crash leaves unknown what was received just before it; and so long before the end of a notification those
# that come back are still sent to.
WINDOW, LAST = 3e9, 1e9


def complaints(answers, ledger, pushes, people, kills=()):
    """Answers are what the API says of each notification at the end, the ledger its deliveries by notification; people
    say which tokens are of one device, kills when the provider died (as all moments here, on the monotonic clock)."""
    owners = {token: person for person in people for token in person.tokens}
    found = []
    for answer in answers:
        prefix = prefix_of(answer["id"])
        received = [push for push in pushes if prefix_of(push.apns_id) == prefix]
        accepted = [push for push in received if push.status == 200]
        found += count_complaints(answer, ledger[answer["id"]], accepted, kills)
        found += doubles(answer, outside(accepted, kills), owners)
        found += left_out(answer, accepted, people)
    return found


def outside(pushes, kills):
    """Those that were not in flight when the provider died."""
    return [push for push in pushes if not any(0 <= kill - push.at < WINDOW for kill in kills)]


def count_complaints(answer, deliveries, accepted, kills=()):
    """The counters, the ledger and the push service agree."""
    name, counters = answer["id"], answer["counters"]
    total = sum(counters.get(state, 0) for state in STATES)
    if total != answer["recipients"]:
        yield f"{name}: {answer['recipients']} recipients and {total} final states: {counters}"
    if len(deliveries) != total:
        yield f"{name}: {total} final states counted, {len(deliveries)} listed"
    for apns_id, count in collections.Counter(row["apnsId"] for row in deliveries).items():
        if count > 1:
            yield f"{name}: {apns_id} has {count} final states"
    states = collections.Counter(row["state"] for row in deliveries)
    for state in STATES:
        if states[state] != counters.get(state, 0):
            yield f"{name}: {states[state]} are listed as {state}, {counters.get(state, 0)} counted"
    known = {row["apnsId"].lower() for row in deliveries if row["state"] == "accepted"}
    taken = {push.apns_id for push in accepted}
    certain = {push.apns_id for push in outside(accepted, kills)}
    if known - taken or certain - known:
        yield (f"{name}: {len(known - taken)} are accepted in the ledger only, {len(certain - known)} by the push"
               f" service only, such as {next(iter(known - taken or certain - known))}")


def doubles(answer, accepted, owners):
    """Nobody was told twice, whatever the apns-ids."""
    tokens = collections.Counter(push.token for push in accepted)
    again = [f"{token[:8]}… of {owners[token].name}" for token, count in tokens.items() if count > 1]
    if again:
        yield f"{answer['id']}: {len(again)} tokens were accepted more than once, such as {again[:3]}"
    # A device with two rows from the start was two recipients; its tokens are judged alone.
    devices = collections.Counter(owners[token].name for token, count in tokens.items()
                                  if count == 1 and not (owners[token].is_split or owners[token].has_shared))
    again = [device for device, count in devices.items() if count > 1]
    if again:
        yield f"{answer['id']}: {len(again)} devices got it more than once, with different tokens, such as {again[:3]}"


def left_out(answer, accepted, people):
    """All who were there all the time have it, and those who came back before it had ended."""
    taken = {push.token for push in accepted}
    reached = {person.name for person in people if not taken.isdisjoint(person.tokens)}
    # A crash takes what was in flight of at-most-once.
    lost = answer["counters"]["unknown"] if answer.get("guarantee") == "atMostOnce" else 0
    missing = [person.name for person in people
               if not (person.has_left or person.is_new or person.absences) and person.name not in reached]
    if len(missing) > lost:
        yield f"{answer['id']}: {len(missing)} were never away and got nothing, such as {missing[:3]}"
    end = max((push.at for push in accepted), default=0) - LAST
    away = [person.name for person in people if person.absences and not person.has_left and person.name not in reached
            and all(back < end for _, back in person.absences)]
    if len(missing) + len(away) > lost and away:
        yield f"{answer['id']}: {len(away)} came back before its end and got nothing, such as {away[:3]}"
