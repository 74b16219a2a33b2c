"""What a bad network must not do: lose, send again without need, or leave something standing."""

import collections

from apns_id import prefix_of
from churn_judge import STATES

# Nanoseconds before a trouble in which a push may have been received whose answer did not come through.
ANSWER = 3e9


def complaints(answers, ledger, received, troubles):
    """Received are the accepted pushes in their order; None if it is not known what was received."""
    found = []
    for answer in answers:
        name, rows, counters = answer["id"], ledger[answer["id"]], answer["counters"]
        total = sum(counters.get(state, 0) for state in STATES)
        if not total == len(rows) == answer["recipients"]:
            found.append(f"{name}: {answer['recipients']} recipients, {total} final states, {len(rows)} listed")
        failed = [row for row in rows if row["state"] != "accepted"]
        if failed and answer["guarantee"] == "atLeastOnce":
            found.append(f"{name}: {len(failed)} did not get it, such as {failed[0]}")
    return found if received is None else found + list(judged(answers, ledger, received, troubles))


def judged(answers, ledger, received, troubles):
    first, again = {}, collections.defaultdict(list)
    ids = collections.defaultdict(set)
    for push in received:
        ids[prefix_of(push.apns_id), push.token].add(push.apns_id)
        if push.apns_id in first:
            again[prefix_of(push.apns_id)].append(push.apns_id)
        first.setdefault(push.apns_id, push.at)
    for (_, token), names in ids.items():
        if len(names) > 1:
            yield f"{token[:8]}… got a notification under {len(names)} apns-ids"
    for answer in answers:
        prefix = prefix_of(answer["id"])
        if answer["guarantee"] == "atMostOnce" and again[prefix]:
            yield f"{answer['id']}: {len(again[prefix])} came again, and it was to come at most once"
        lost = [row["apnsId"] for row in ledger[answer["id"]]
                if row["state"] == "accepted" and row["apnsId"].lower() not in first]
        if lost:
            yield f"{answer['id']}: {len(lost)} are accepted and were never received"
    for apns_ids in again.values():
        for apns_id in apns_ids:
            if not any(begin - ANSWER <= first[apns_id] <= end for begin, end in troubles):
                yield f"{apns_id} came again, and nothing was wrong when it had come first"
