"""What a stop promises: what may still be sent after its answer, and what the ledger says of it."""

import collections

from apns_id import prefix_of
from churn_judge import STATES

# A stop of some tokens: its answer's moment on the monotonic clock, what it says is under way, the tokens that it concerns, and
# the notifications (None for all). `until` is the moment from which they may be sent to again.
Stop = collections.namedtuple("Stop", "kind at under_way tokens identities until", defaults=(None, None))


def complaints(stops, pushes, answers, ledger, erased=frozenset()):
    """Pushes as the push service received them, what the API says of the notifications at the end, and their deliveries; the
    tokens of users whose deliveries are gone with them."""
    return [*late(stops, pushes), *untrue(pushes, answers, ledger, erased)]


def late(stops, pushes):
    """What was received after the answer to a stop, beyond what the answer named."""
    found = []
    for stop in stops:
        prefixes = None if stop.identities is None else {prefix_of(identity) for identity in stop.identities}
        after = {push.apns_id for push in pushes
                 if push.at > stop.at and (stop.until is None or push.at < stop.until)
                 and (stop.tokens is None or push.token in stop.tokens)
                 and (prefixes is None or prefix_of(push.apns_id) in prefixes)}
        if len(after) > stop.under_way:
            found.append(f"{stop.kind}: {len(after)} pushes came after the answer, which named {stop.under_way}")
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
        total = sum(counters.get(state, 0) for state in STATES)
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


def strangers(pushes, tokens):
    """Pushes to tokens that nobody has registered or named."""
    return [f"a push came for {push.token[:8]}…, which is no token" for push in pushes if push.token not in tokens]
