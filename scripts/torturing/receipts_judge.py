"""What the database has of receipts, against what was answered."""

import collections
import uuid

from basics import fail

CODES = {"delivered": 1, "shown": 2, "opened": 3, "dismissed": 4, "action": 5, "converted": 6}
WORD = 2 ** 64


def shortened(identity):
    """The 64 bits under which the provider keeps the id of a receipt: FNV-1a and a mix."""
    value = 0xCBF29CE484222325
    for byte in uuid.UUID(identity).bytes:
        value = (value ^ byte) * 0x100000001B3 % WORD
    value = (value ^ value >> 32) * 0xD6E8FEB86659FD93 % WORD
    value ^= value >> 32
    return value - WORD if value >= WORD // 2 else value


def prove(database, batches, answers):
    """Every receipt that was answered is there once, and the counters are their sums. Returns their number."""
    levels = {answer["id"]: answer["receipts"] for answer in answers}
    wanted, subjects, totals = collections.Counter(), collections.defaultdict(set), collections.Counter()
    for batch in batches:
        for receipt in batch.body["receipts"]:
            notification, event, action = receipt["notification"], CODES[receipt["event"]], receipt.get("action")
            # Where only counts are kept, the installation is not known.
            name = batch.installation.name if levels[notification] == "device" else None
            wanted[notification, name, event, shortened(receipt["id"]), action] += 1
            for key in {(notification, event, ""), (notification, event, action or "")}:
                subjects[key].add(batch.installation.name)
                totals[key] += 1
    stored = collections.Counter(database.execute(
        "SELECT notification.id, device.installation, event, receipt.id, action FROM receipt"
        " JOIN notification ON number = receipt.notification LEFT JOIN device ON device.id = subject").fetchall())
    if stored != wanted:
        lost, more = wanted - stored, stored - wanted
        fail(f"{sum(lost.values())} receipts are lost, such as {list(lost)[:2]}; {sum(more.values())} are too many or"
             f" of nobody, such as {list(more)[:2]}")
    counted = {(row[0], row[1], row[2]): (row[3], row[4]) for row in database.execute(
        "SELECT notification.id, event, action, uniqueCount, total FROM receiptCount"
        " JOIN notification ON number = receiptCount.notification")}
    expected = {key: (len(subjects[key]), totals[key]) for key in totals}
    if counted != expected:
        fail(f"the counters are not the sums of the ledger: {set(counted.items()) ^ set(expected.items())}"[:500])
    shown = {(answer["id"], CODES[count["event"]], ""): (count["unique"], count["total"])
             for answer in answers for count in answer.get("receiptCounts", [])}
    if shown != {key: value for key, value in expected.items() if not key[2]}:
        fail("the API shows other counters than the ledger has")
    return sum(wanted.values())
