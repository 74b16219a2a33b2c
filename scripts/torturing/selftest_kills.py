"""The proofs of the kills against a small true ledger and log, and falsified ones."""

import contextlib
import random
import sqlite3

from apns_id import apns_id, prefix_of
from basics import Failure
from campaigns import Campaigns
from gateway import Gateway
from importer import Importer
from proof import prove_deliveries, prove_stillness
from receiver import Receiver
from schedules import Schedules
from window import CrashWindow
from worker import Registrar

SCHEMA = """
CREATE TABLE notification (number INTEGER PRIMARY KEY, id TEXT, guarantee TEXT, recipients INTEGER, audience TEXT,
    state TEXT, finishedAt INTEGER, idempotencyKey TEXT, schedule TEXT, runAt INTEGER);
CREATE TABLE delivery (notification INTEGER, recipient INTEGER, state INTEGER);
CREATE TABLE shard (notification INTEGER, leaseUntil INTEGER, cursor INTEGER, upTo INTEGER, isDone INTEGER);
CREATE TABLE retry (notification INTEGER, recipient INTEGER, isLeased INTEGER);
CREATE TABLE device (id INTEGER PRIMARY KEY, token BLOB, environment INTEGER, timeZone TEXT, user TEXT, attributes TEXT);
CREATE TABLE deviceTag (tag TEXT, device INTEGER);
CREATE TABLE deviceAttribute (name TEXT, value, device INTEGER);
CREATE TABLE tokenEvent (id INTEGER PRIMARY KEY);
"""
IDS = [f"{number}AAAAAAA-0000-4000-8000-000000000000" for number in range(1, 5)]
# At least once, at most once, cancelled, a run of a schedule.
KINDS = [("atLeastOnce", "done"), ("atMostOnce", "done"), ("atLeastOnce", "cancelled"), ("atLeastOnce", "done")]
DEVICES = range(1, 5)


class Scene:
    """Four notifications to four devices. A kill has struck the first page of the first one: its first two came again."""

    def __init__(self, receiver):
        rng = random.Random(1)
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.gateway, self.window, self.receiver = Gateway(0), CrashWindow(), receiver
        receiver.events, receiver.faults = {}, []
        self.campaigns, self.schedules = Campaigns(None, [], rng), Schedules(None, rng)
        self.importer, self.registrar = Importer(None, rng), Registrar(None)
        self.devices()
        for number, (guarantee, state) in enumerate(KINDS):
            self.notification(number, guarantee, state)
        self.campaigns.answered = {f"key{number}": IDS[number] for number in range(3)}
        self.campaigns.moments = {"key1": (500, None)}
        self.schedules.begin, self.schedules.last = 9, 10
        self.schedules.groups, self.schedules.made_up = {"S": "group"}, {"S": set()}
        self.schedules.policies = {"S": {}}
        self.window.pages[prefix_of(IDS[0])].add((0, 4))
        for recipient in (1, 2):
            self.gateway.again[apns_id(prefix_of(IDS[0]), recipient)] += 1

    def devices(self):
        for device in DEVICES:
            self.run("INSERT INTO device VALUES (?, ?, 1, NULL, NULL, NULL)", device, bytes([device]))
            self.run("INSERT INTO deviceTag VALUES ('group', ?)", device)
        self.registrar.confirmed = ["01", "02"]
        file = self.importer.files[0]
        file.version = 1
        file.stored = dict(list(file.after(10).items()))
        for version, token in file.stored.values():
            row = self.run("INSERT INTO device VALUES (NULL, ?, 0, NULL, ?, ?)", bytes.fromhex(token), file.user,
                           f'{{"version": {version}}}').lastrowid
            for tag in ("imported", file.user):
                self.run("INSERT INTO deviceTag VALUES (?, ?)", tag, row)
            self.run("INSERT INTO deviceAttribute VALUES ('version', ?, ?)", version, row)

    def notification(self, number, guarantee, state):
        key, run = (None, ("S", 600_000)) if number == 3 else (f"key{number}", (None, None))
        self.run("INSERT INTO notification VALUES (?, ?, ?, 4, 'all', ?, 1, ?, ?, ?)", number, IDS[number], guarantee,
                 state, key, *run)
        for device in DEVICES:
            pushed = apns_id(prefix_of(IDS[number]), device)
            self.run("INSERT INTO delivery VALUES (?, ?, 1)", number, device)
            self.gateway.first[pushed] = 1000, f"device {device}"
            self.receiver.events[f"{pushed}.accepted"] = 1

    def run(self, text, *values):
        return self.database.execute(text, values)

    def prove(self):
        """The complaint; None without one."""
        with contextlib.closing(self.database):
            try:
                prove_stillness(self.database)
                prove_deliveries(self.database, self.gateway, self.window)
                self.window.prove(self.database, self.gateway)
                self.campaigns.prove(self.database, self.gateway)
                self.schedules.prove(self.database)
                self.importer.prove(self.database)
                self.registrar.prove(self.database)
                self.receiver.prove(self.database)
            except Failure as failure:
                return str(failure)
        return None


def pushed(number, device):
    return apns_id(prefix_of(IDS[number]), device)


def sql(text):
    return lambda scene: scene.run(text)


WAYS = {
    "a final state lost": sql("DELETE FROM delivery WHERE notification = 0 AND recipient = 1"),
    "failed, at least once": sql("UPDATE delivery SET state = 3 WHERE notification = 0 AND recipient = 1"),
    "failed, at most once, and received": sql(
        "UPDATE delivery SET state = 3 WHERE notification = 1 AND recipient = 1"),
    "a state for nobody": sql("INSERT INTO delivery VALUES (0, 9, 1)"),
    "a state for nobody, cancelled": sql("INSERT INTO delivery VALUES (2, 9, 1)"),
    "never received": lambda scene: scene.gateway.first.pop(pushed(0, 3)),
    "received of nothing known": lambda scene: scene.gateway.first.update({pushed(0, 77): (1000, "device 77")}),
    "received of a cancelled one in peace": lambda scene: scene.gateway.first.update(
        {pushed(2, 77): (1000, "device 77")}),
    "under two ids": lambda scene: scene.gateway.first.update({pushed(0, 3): (1000, "device 4")}),
    "at most once, twice": lambda scene: scene.gateway.again.update([pushed(1, 1)]),
    "twice in another page": lambda scene: scene.gateway.again.update([pushed(3, 1)]),
    "twice before the cursor": lambda scene: scene.window.pages[prefix_of(IDS[0])].symmetric_difference_update(
        {(0, 4), (2, 4)}),
    "twice after the shard": lambda scene: scene.window.pages[prefix_of(IDS[0])].symmetric_difference_update(
        {(0, 4), (0, 1)}),
    "a 202 that is not stored": sql("UPDATE notification SET idempotencyKey = NULL WHERE number = 0"),
    "a key of two": sql("UPDATE notification SET idempotencyKey = 'key0' WHERE number = 3"),
    "before its moment": lambda scene: scene.gateway.first.update({pushed(1, 1): (499, "device 1")}),
    "a run left out": sql("UPDATE notification SET schedule = NULL WHERE number = 3"),
    "a run twice": sql("UPDATE notification SET schedule = 'S', runAt = 600000 WHERE number = 0"),
    "a run late": sql("UPDATE notification SET runAt = 600001 WHERE number = 3"),
    "a run that reached others": sql("DELETE FROM deviceTag WHERE tag = 'group' AND device = 4"),
    "an import lost": sql("DELETE FROM device WHERE id = 10"),
    "an import twice": sql("INSERT INTO device SELECT NULL, token, 0, NULL, user, attributes FROM device WHERE id = 10"),
    "an import in an old version": sql("UPDATE device SET attributes = '{\"version\": 0}' WHERE id = 10"),
    "an import without a tag": sql("DELETE FROM deviceTag WHERE tag = 'imported' AND device = 10"),
    "an import without an attribute": sql("DELETE FROM deviceAttribute WHERE device = 10"),
    "a registration lost": sql("UPDATE device SET token = x'ff' WHERE id = 1"),
    "a webhook not told": lambda scene: scene.receiver.events.pop(f"{pushed(0, 1)}.accepted"),
    "a webhook told too much": lambda scene: scene.receiver.events.update({f"{pushed(0, 9)}.accepted": 1}),
    "a webhook not told of a token": sql("INSERT INTO tokenEvent VALUES (1)"),
    "a webhook told wrongly": lambda scene: scene.receiver.faults.append("signature"),
    "a retry left": sql("INSERT INTO retry VALUES (0, 1, 0)"),
    "a shard left": sql("INSERT INTO shard VALUES (0, NULL, 0, 4, 0)"),
    "no end": sql("UPDATE notification SET finishedAt = NULL WHERE number = 2"),
    "a state without its notification": sql("INSERT INTO delivery VALUES (99, 1, 1)"),
}


def kills():
    """Trials for selftest: a name, whether it is true, and the complaints."""
    receiver = Receiver(random.Random(1))
    yield "a true ledger", True, Scene(receiver).prove()
    for name, falsify in WAYS.items():
        scene = Scene(receiver)
        falsify(scene)
        yield name, False, scene.prove()
