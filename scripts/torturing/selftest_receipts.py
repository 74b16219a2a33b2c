"""A small truthful ledger of receipts, and ways to falsify it, for selftest."""

import contextlib
import sqlite3
from collections import namedtuple

from basics import Failure
from receipts_judge import prove, shortened

Installation = namedtuple("Installation", "name")
Batch = namedtuple("Batch", "installation body")
SCHEMA = """
    CREATE TABLE notification (number INTEGER, id TEXT);
    CREATE TABLE device (id INTEGER, installation TEXT);
    CREATE TABLE receipt (notification INTEGER, subject INTEGER, event INTEGER, id INTEGER, action TEXT);
    CREATE TABLE receiptCount (notification INTEGER, event INTEGER, action TEXT, uniqueCount INTEGER, total INTEGER);
    INSERT INTO notification VALUES (1, 'device'), (2, 'counts');
    INSERT INTO device VALUES (1, 'i1'), (2, 'i2');
    INSERT INTO receiptCount VALUES (1, 2, '', 2, 3), (1, 5, '', 1, 1), (1, 5, 'REPLY', 1, 1), (2, 3, '', 1, 1);
"""
# Subject, installation, notification, event and action of each receipt.
RECEIPTS = [(1, "i1", 1, "shown", None), (1, "i1", 1, "shown", None), (2, "i2", 1, "shown", None),
            (2, "i2", 1, "action", "REPLY"), (-7, "i1", 2, "opened", None)]
CODES = {"shown": 2, "opened": 3, "action": 5}


class Scene:
    """The ledger, what was answered, and what the API shows."""

    def __init__(self):
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.batches = []
        for number, (subject, installation, notification, event, action) in enumerate(RECEIPTS):
            identity = f"00000000-0000-4000-8000-{number:012}"
            receipt = {"id": identity, "notification": ("device", "counts")[notification - 1], "event": event}
            if action:
                receipt["action"] = action
            self.batches.append(Batch(Installation(installation), {"receipts": [receipt]}))
            self.database.execute("INSERT INTO receipt VALUES (?, ?, ?, ?, ?)",
                                  (notification, subject, CODES[event], shortened(identity), action))
        self.answers = [
            {"id": "device", "receipts": "device", "receiptCounts": [
                {"event": "shown", "unique": 2, "total": 3}, {"event": "action", "unique": 1, "total": 1}]},
            {"id": "counts", "receipts": "counts", "receiptCounts": [{"event": "opened", "unique": 1, "total": 1}]}]

    def complaint(self):
        """None without one."""
        with contextlib.closing(self.database):
            try:
                prove(self.database, self.batches, self.answers)
            except Failure as failure:
                return str(failure)
        return None


def sql(text):
    return lambda scene: scene.database.execute(text)


WAYS = {
    "a receipt lost": sql("DELETE FROM receipt WHERE event = 2 AND subject = 2"),
    "a receipt twice": sql("INSERT INTO receipt SELECT * FROM receipt WHERE event = 5"),
    "a receipt of nobody": sql("INSERT INTO receipt VALUES (1, 1, 3, 99, NULL)"),
    "another's receipt": sql("UPDATE receipt SET subject = 1 WHERE event = 5"),
    "another event": sql("UPDATE receipt SET event = 6 WHERE event = 5"),
    "an action lost": sql("UPDATE receipt SET action = NULL WHERE event = 5"),
    "a device where only counts are kept": sql("UPDATE receipt SET subject = 1 WHERE notification = 2"),
    "a counter too low": sql("UPDATE receiptCount SET total = 2 WHERE event = 2"),
    "a counter of installations too high": sql("UPDATE receiptCount SET uniqueCount = 3 WHERE event = 2"),
    "a counter lost": sql("DELETE FROM receiptCount WHERE notification = 2"),
    "a counter of nothing": sql("INSERT INTO receiptCount VALUES (2, 6, '', 1, 1)"),
    "a counter of an action lost": sql("DELETE FROM receiptCount WHERE action = 'REPLY'"),
    "the API shows less": lambda scene: scene.answers[0]["receiptCounts"].pop(),
    "the API shows more": lambda scene: scene.answers[1]["receiptCounts"][0].update(total=2),
    "answered, and not written": lambda scene: scene.batches.append(Batch(Installation("i1"), {"receipts": [
        {"id": "00000000-0000-4000-8000-000000000099", "notification": "device", "event": "opened"}]})),
}


def receipts():
    """Trials for selftest: a name, whether it is true, and the complaint."""
    yield "true receipts", True, Scene().complaint()
    for name, falsify in WAYS.items():
        scene = Scene()
        falsify(scene)
        yield name, False, scene.complaint()
