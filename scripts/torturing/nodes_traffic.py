"""What is asked of several nodes all the while, each request of any of them."""

import collections
import os
import time
import uuid

from basics import call, fail
from worker import Worker

KINDS = ["campaign", "campaign", "paced", "once", "once-paced", "cancelled", "paused", "single", "single", "single", "single"]
# The number of notifications without an end beyond which no campaign is added.
UNDER_WAY = 10
# Seconds that a request waits for its answer.
PATIENCE = 8


class Everywhere:
    """All nodes, as behind a balancer that does not know of any trouble."""

    def __init__(self, nodes, rng):
        self.nodes, self.rng = nodes, rng

    def call(self, method, path, body=None, headers=None):
        node = self.rng.choice(self.nodes)
        return call(node.port, method, path, body, {"authorization": f"Bearer {node.key}", **(headers or {})}, PATIENCE)


class Note:
    """A notification: what it asks for, whom it is for, and what is done to it when."""

    def __init__(self, app, body, tokens, key):
        self.app, self.body, self.tokens, self.key = app, body, tokens, key
        self.guarantee = body.get("guarantee", "atLeastOnce")
        self.identity, self.acts, self.is_cut = None, [], False


class Watch(Worker):
    """Counts what has no end yet."""

    def __init__(self, world):
        self.world, self.under_way = world, 0

    def turn(self):
        rows = self.world.database.ask("SELECT count(*) FROM notification WHERE finishedAt IS NULL")
        if rows is not None:
            self.under_way = int(rows[0][0])
        time.sleep(0.5)


class Traffic(Worker):
    """Notifications of all kinds; each keeps its idempotency key until it is answered, by whichever node."""

    def __init__(self, world, watch, rng, number):
        self.world, self.watch, self.rng, self.number = world, watch, rng, number
        self.nodes = Everywhere(world.nodes, rng)
        # Without an answer, answered, with something to be done to them.
        self.open, self.notes, self.busy, self.statuses = [], [], [], collections.Counter()
        with open(f"{world.options.work}/key.p8") as file:
            self.private_key = file.read()

    def turn(self):
        for note in list(self.open):
            self.send(note)
        self.act(time.monotonic())
        kind = self.rng.choice(KINDS)
        if self.watch.under_way < UNDER_WAY or kind == "single" and self.watch.under_way < 4 * UNDER_WAY:
            self.make(kind)
        if self.number == 0 and self.rng.random() < 0.1:
            self.change_credential()
        time.sleep(self.rng.uniform(0.05, 0.4))

    def make(self, kind):
        app = self.world.apps[0] if self.rng.random() < 0.5 else self.rng.choice(self.world.apps)
        tokens, body = self.world.tokens[app], {"to": {"all": True}, "environment": "sandbox", "alert": f"a {kind} notification"}
        if kind.startswith("once"):
            body["guarantee"] = "atMostOnce"
        if kind.endswith("paced"):
            body["pace"] = {"rate": max(20, len(tokens) // self.rng.choice([2, 5, 10]))}
        if kind == "single":
            tokens = self.rng.sample(tokens, self.rng.randint(1, 3))
            body["to"] = {"tokens": tokens}
        note = Note(app, body, set(tokens), str(uuid.UUID(int=self.rng.getrandbits(128))))
        moment = time.monotonic() + self.rng.uniform(0, 2)
        if kind == "cancelled":
            note.acts, note.is_cut = [(moment, "cancel")], True
        if kind == "paused":
            note.acts = [(moment, "pause"), (moment + self.rng.uniform(0.2, 3), "resume")]
        self.open.append(note)
        self.send(note)

    def ask(self, method, path, body=None, headers=None):
        """As call; no answer if the node cannot give one now."""
        status, answer = self.nodes.call(method, path, body, headers)
        self.statuses[status] += 1
        return (None, None) if status is None or status >= 500 else (status, answer)

    def send(self, note):
        status, answer = self.ask("POST", f"/v1/apps/{note.app}/notifications", note.body, {"idempotency-key": note.key})
        if status == 202:
            note.identity = answer["id"]
            self.open.remove(note)
            self.notes.append(note)
            if note.acts:
                self.busy.append(note)
        elif status is not None:
            fail(f"a notification is answered {status} {answer}")

    def act(self, before):
        for note in list(self.busy):
            moment, name = note.acts[0]
            if moment > before:
                continue
            status, answer = self.ask("POST", f"/v1/notifications/{note.identity}:{name}", {})
            if status not in (None, 200, 409):
                fail(f"{name} is answered {status} {answer}")
            if status is not None:
                note.acts.pop(0)
                if not note.acts:
                    self.busy.remove(note)

    def change_credential(self):
        """The last app signs with one of two keys, which all nodes have to follow."""
        credential = {"teamId": "DEF123GHIJ", "keyId": self.rng.choice(["ABC123DEFG", "HIJ456KLMN"]), "privateKey": self.private_key}
        status, answer = self.ask("PUT", f"/v1/apps/{self.world.apps[-1]}/credentials/sandbox", credential)
        if status is not None and status >= 300:
            fail(f"a credential is answered {status} {answer}")

    def finish(self, seconds):
        """Until all is answered, and what was paused goes on."""
        end = time.monotonic() + seconds
        while self.open or self.busy:
            if time.monotonic() > end:
                fail(f"stuck: {len(self.open)} notifications and {len(self.busy)} acts are not answered: {dict(self.statuses)}")
            for note in list(self.open):
                self.send(note)
            self.act(float("inf"))
            time.sleep(0.1)


class Registrations(Worker):
    """Registers devices of the other environment, and remembers which were answered for."""

    def __init__(self, world, rng):
        self.apps, self.rng, self.nodes = world.apps, rng, Everywhere(world.nodes, rng)
        self.confirmed, self.statuses = [], collections.Counter()

    def turn(self):
        token = os.urandom(32).hex()
        body = {"token": token, "environment": "production", "tags": ["new"], "attributes": {"name": "Person"}}
        status, answer = self.nodes.call("POST", f"/v1/apps/{self.rng.choice(self.apps)}/devices", body)
        self.statuses[status] += 1
        if status in (200, 201):
            self.confirmed.append(token)
        elif status is not None and status < 500:
            fail(f"a registration is answered {status} {answer}")
        time.sleep(self.rng.uniform(0.05, 0.2))
