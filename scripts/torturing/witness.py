"""Clients that remember when they were promised what."""

import collections
import threading
import time
import uuid

from basics import APP, Failure, fail

# A notification that was answered with 202, a device that was answered for, a final state that was shown.
Note = collections.namedtuple("Note", "at key identity body")
Device = collections.namedtuple("Device", "at token")
Final = collections.namedtuple("Final", "at notification apns_id state")
Promises = collections.namedtuple("Promises", "notes devices finals")


class Witness:
    """Three clients at the same time. Moments are nanoseconds of the monotonic clock, taken once the answer is there."""

    def __init__(self, provider, rng, devices, may_be_silent=False):
        """Without an answer a client may remain only where the provider ends meanwhile."""
        self.provider, self.rng, self.count, self.may_be_silent = provider, rng, devices, may_be_silent
        self.notes, self.devices, self.finals, self.refusals, self.silences = [], [], [], 0, 0
        # Requests without an answer, by idempotency key.
        self.open = {}
        self.failure, self.seen = None, set()

    def register_all(self):
        self.tokens = [f"{self.rng.getrandbits(256):064x}" for _ in range(self.count)]
        self.provider.register(APP, [{"token": token, "environment": "sandbox"} for token in self.tokens])
        self.devices += [Device(time.monotonic_ns(), token) for token in self.tokens]

    def __enter__(self):
        self.is_over = False
        self.threads = [threading.Thread(target=self.run, args=[turn]) for turn in (self.send, self.register, self.look)]
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        if self.failure:
            raise self.failure

    def run(self, turn):
        try:
            while not self.is_over:
                turn()
        except Failure as failure:
            self.failure = failure

    def send(self):
        bodies = [
            {"to": {"all": True}}, {"to": {"all": True}, "guarantee": "atMostOnce"},
            {"to": {"all": True}, "pace": {"rate": 500}},
            {"to": {"tokens": self.rng.sample(self.tokens, 5)}},
            {"to": {"all": True}, "when": {"at": int(time.time() * 1000) + 700}},
        ]
        key = str(uuid.UUID(int=self.rng.getrandbits(128)))
        self.open[key] = {**self.rng.choice(bodies), "environment": "sandbox", "alert": "witness"}
        self.post(key)
        time.sleep(self.rng.uniform(0.05, 0.3))

    def post(self, key):
        status, answer = self.provider.call(
            "POST", f"/v1/apps/{APP}/notifications", self.open[key], {"idempotency-key": key})
        if status == 202:
            self.notes.append(Note(time.monotonic_ns(), key, answer["id"], self.open.pop(key)))
        else:
            self.refused(status, answer)

    def repeat(self):
        """Asks again what has no answer."""
        for key in list(self.open):
            # Its moment may be over.
            self.open[key].pop("when", None)
            self.post(key)

    def register(self):
        token = f"{self.rng.getrandbits(256):064x}"
        status, answer = self.provider.call(
            "POST", f"/v1/apps/{APP}/devices", {"token": token, "environment": "production"})
        if status in (200, 201):
            self.devices.append(Device(time.monotonic_ns(), token))
        else:
            self.refused(status, answer)
        time.sleep(0.01)

    def refused(self, status, answer):
        if status is None and self.may_be_silent:
            self.silences += 1
            return
        if status != 503:
            fail(f"a request is answered {status} {answer}")
        self.refusals += 1

    def look(self):
        """Final states as they become known."""
        for note in self.notes[-4:]:
            status, answer = self.provider.call("GET", f"/v1/notifications/{note.identity}/deliveries?limit=1000")
            if status != 200:
                continue
            at = time.monotonic_ns()
            for row in answer["deliveries"]:
                key = row["apnsId"].lower()
                if row["state"] != "sending" and key not in self.seen:
                    self.seen.add(key)
                    self.finals.append(Final(at, note.identity, key, row["state"]))
        time.sleep(0.1)

    def before(self, moment):
        """What had been promised by then."""
        return Promises(*([entry for entry in entries if entry.at <= moment]
                          for entries in (self.notes, self.devices, self.finals)))
