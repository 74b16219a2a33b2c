"""What a stop promises: what may still be sent after its answer, and what the API says of it meanwhile and in the end."""

import bisect
import collections

from apns_id import prefix_of
from churn_judge import STATES

# A stop: when it was asked for and answered (on the monotonic clock), what it says is under way, the tokens and the
# notifications that it concerns (None for all), how many were accepted as it says. `until` is the moment from which they may be
# sent to again.
Stop = collections.namedtuple("Stop", "kind asked at under_way tokens identities accepted until", defaults=(None, None, None))

# What the API said of a notification: when it was asked and answered. `listed` are the accepted counted before, and then
# listed as deliveries; None if they were not listed.
Look = collections.namedtuple("Look", "asked at identity state recipients counters listed", defaults=(None,))

# Nanoseconds. So long after its answer a push may wait for the rest of its page before it is in the ledger, and so long one that
# was handed to a connection may take to be received.
SETTLING, ARRIVING = 5e9, 1e9


def complaints(stops, pushes, answers, ledger, erased=frozenset(), looks=()):
    """Pushes as the push service received them, what the API says of the notifications at the end, and their deliveries; the
    tokens of users whose deliveries are gone with them; and what the API said meanwhile."""
    return [*late(stops, pushes), *excessive(stops, pushes), *untrue(pushes, answers, ledger, erased),
            *contradictions(looks, pushes, erased), *against_stops(looks, stops)]


def resumed(stops, kind, now):
    """The stops once those of a kind are over. What was cancelled, opted out or erased meanwhile is never sent."""
    return [stop._replace(until=stop.until or now) if stop.kind == kind else stop for stop in stops]


def concerned(stop, pushes):
    prefixes = None if stop.identities is None else {prefix_of(identity) for identity in stop.identities}
    return [push for push in pushes
            if (stop.tokens is None or push.token in stop.tokens)
            and (prefixes is None or prefix_of(push.apns_id) in prefixes)]


def late(stops, pushes):
    """What was received after the answer to a stop, beyond what the answer named."""
    found = []
    for stop in stops:
        # The second try of a push that was under way is one more.
        after = [push for push in concerned(stop, pushes)
                 if push.at > stop.at and (stop.until is None or push.at < stop.until)]
        if len(after) > stop.under_way:
            found.append(f"{stop.kind}: {len(after)} pushes came after the answer, which named {stop.under_way}")
    return found


def excessive(stops, pushes):
    """Stops that name more than was unanswered, or answered so late that it need not be in the ledger. A stop in the instant
    in which a page is handed over counts all of it, which is rare."""
    found = []
    for stop in stops:
        most = sum(push.at <= stop.at + ARRIVING and (push.answered is None or push.answered >= stop.asked - SETTLING)
                   for push in concerned(stop, pushes))
        if stop.under_way > most:
            found.append(f"{stop.kind}: the answer named {stop.under_way} pushes, and {most} can have been under way")
    return found if len(found) > len(stops) // 20 else []


def final_states(counters):
    return sum(counters.get(state, 0) for state in STATES)


def contradictions(looks, pushes, erased=frozenset()):
    """What the API said at some moment and cannot be: alone, after what it said before, or beside what was received."""
    found, before, taken = [], {}, collections.defaultdict(dict)
    for push in pushes:
        if push.status == 200:
            taken[prefix_of(push.apns_id)].setdefault(push.apns_id, push.at)
    taken = {prefix: sorted(moments.values()) for prefix, moments in taken.items()}
    for look in sorted(looks, key=lambda look: look.asked):
        name, counters, total = look.identity, look.counters, final_states(look.counters)
        retrying = counters.get("retrying", 0)
        if look.recipients and total + retrying > look.recipients:
            found.append(f"{name} has {look.recipients} recipients at some moment, and {counters}")
        if look.state == "done" and (retrying or total != look.recipients):
            found.append(f"{name} is done at some moment with {look.recipients} recipients and {counters}")
        came = bisect.bisect_right(taken.get(prefix_of(name), []), look.at)
        if counters.get("accepted", 0) > came:
            found.append(f"{name} counts {counters['accepted']} accepted when {came} had come")
        if look.listed:
            counted, listed = look.listed
            if not counted - len(erased) <= listed <= counters.get("accepted", 0):
                found.append(f"{name} counts {counted} accepted, lists {listed}, and counts {counters.get('accepted', 0)}")
        last = before.get(name)
        if last:
            found += [f"{name} counts {counters.get(state, 0)} {state} after {last.counters.get(state, 0)}"
                      for state in STATES if counters.get(state, 0) < last.counters.get(state, 0)]
            if last.state in ("done", "cancelled") and look.state != last.state:
                found.append(f"{name} is {look.state} after {last.state}")
        before[name] = look
    return found


def against_stops(looks, stops):
    """What the API said of a notification after it had answered that it is paused or cancelled."""
    found = []
    for stop in stops:
        if stop.kind not in ("pause", "cancel"):
            continue
        allowed = ("paused", "done") if stop.kind == "pause" else ("cancelled",)
        for look in looks:
            if look.identity not in stop.identities or look.asked < stop.at or stop.until and look.at > stop.until:
                continue
            if look.state not in allowed:
                found.append(f"{look.identity} is {look.state} after the answer to {stop.kind}")
            if look.counters.get("accepted", 0) > stop.accepted + stop.under_way:
                found.append(f"{look.identity} counts {look.counters['accepted']} accepted after the answer to {stop.kind},"
                             f" which named {stop.accepted} and {stop.under_way} under way")
    return found


def untrue(pushes, answers, ledger, erased):
    """Differences between what was received and what the ledger says."""
    found = []
    accepted = {push.apns_id: push.token for push in pushes if push.status == 200}
    for answer in answers:
        identity, counters = answer["id"], answer["counters"]
        rows = ledger[identity]
        states = collections.Counter(row["state"] for row in rows)
        for state in STATES:
            gone = counters.get(state, 0) - states[state]
            if gone < 0 or gone > len(erased):
                found.append(f"{identity}: {counters.get(state, 0)} {state} counted, {states[state]} deliveries")
        total = final_states(counters)
        if answer["state"] == "done" and total != answer["recipients"]:
            found.append(f"{identity} is done with {total} of {answer['recipients']} recipients")
        if answer["state"] not in ("done", "cancelled"):
            found.append(f"{identity} stands still: {answer['state']} with {counters}")
        said = {row["apnsId"] for row in rows if row["state"] == "accepted"}
        sent = {identifier for identifier in accepted if prefix_of(identifier) == prefix_of(identity)}
        for identifier in said - sent:
            found.append(f"{identifier} is accepted in the ledger, and never came")
        for identifier in sent - said:
            if accepted[identifier] not in erased:
                found.append(f"{identifier} came, and is not accepted in the ledger")
    twice = [identifier for identifier, count in collections.Counter(
        push.apns_id for push in pushes if push.status == 200).items() if count > 1]
    return [*found, *(f"{identifier} was accepted twice" for identifier in twice)]


def strangers(pushes, tokens, identities):
    """Pushes of notifications to tokens that nobody has registered or named. Any other tests a credential: its token is random."""
    prefixes = {prefix_of(identity) for identity in identities}
    return [f"a push came for {push.token[:8]}…, which is no token" for push in pushes
            if push.token not in tokens and prefix_of(push.apns_id) in prefixes]
