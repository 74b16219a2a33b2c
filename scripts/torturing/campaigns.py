"""Notifications of all kinds, and what their answers and their times promise."""

import datetime
import time
import uuid

from apns_id import prefix_of, recipient_of
from basics import APP, fail
from provider import GROUPS, HONOLULU

KINDS = ["campaign", "campaign", "paced", "once", "once-paced", "later", "local", "single", "single",
         "cancelled", "once-cancelled"]


class Campaigns:
    """Each notification keeps its idempotency key until it is answered."""

    def __init__(self, provider, tokens, rng, kinds=KINDS):
        self.provider, self.tokens, self.rng, self.kinds = provider, tokens, rng, kinds
        # By idempotency key: requests without an answer, ids of the others, and before when nothing may be received.
        self.open, self.answered, self.moments = {}, {}, {}
        # By key, when it is to be cancelled; how many were.
        self.ends, self.cancelled = {}, 0

    def make(self):
        kind = self.rng.choice(self.kinds)
        body = {"to": {"all": True}, "environment": "sandbox", "alert": f"a {kind} notification"}
        key = str(uuid.UUID(int=self.rng.getrandbits(128)))
        if kind.startswith("once"):
            body["guarantee"] = "atMostOnce"
        if kind.endswith("paced"):
            body["pace"] = {"rate": self.rng.choice([500, 2000, 5000])}
        if kind == "later":
            self.delay(key, body, self.rng.uniform(0.3, 3))
        if kind == "local":
            moment = int(time.time() + self.rng.uniform(1, 4))
            clock = datetime.datetime.fromtimestamp(moment, datetime.timezone(datetime.timedelta(hours=-10)))
            body["to"] = {"tag": f"group{self.rng.randrange(GROUPS)}"}
            body["when"] = {"localTime": clock.strftime("%Y-%m-%dT%H:%M:%S"), "past": "send"}
            self.moments[key] = moment * 1000, HONOLULU
        if kind == "single":
            body["to"] = {"tokens": self.rng.sample(self.tokens, self.rng.randint(1, 20))}
        if kind.endswith("cancelled"):
            self.ends[key] = time.monotonic() + self.rng.uniform(0, 1.5)
        self.open[key] = body

    def delay(self, key, body, seconds):
        at = int((time.time() + seconds) * 1000)
        body["when"] = {"at": at}
        self.moments[key] = at, None

    def send(self):
        """All that have no answer yet: the new ones, and those whose answer a kill has cut off."""
        for key, body in list(self.open.items()):
            status, answer = self.provider.call(
                "POST", f"/v1/apps/{APP}/notifications", body, {"idempotency-key": key})
            if status == 202:
                self.answered[key] = answer["id"]
                del self.open[key]
            elif status == 400 and "at" in body.get("when", {}):
                # Its time has passed while nobody answered.
                self.delay(key, body, 0.5)
            elif status is not None:
                fail(f"a notification was refused: {status} {answer}")

    def cancel(self, before):
        """Those whose time has come, unless they have ended before."""
        for key, end in list(self.ends.items()):
            if end > before or key not in self.answered:
                continue
            status, answer = self.provider.call("POST", f"/v1/notifications/{self.answered[key]}:cancel")
            if status not in (None, 200, 409):
                fail(f"a notification cannot be cancelled: {status} {answer}")
            if status is not None:
                self.cancelled += status == 200
                del self.ends[key]

    def drive(self, until):
        while time.monotonic() < until:
            self.make()
            self.send()
            self.cancel(time.monotonic())
            time.sleep(self.rng.uniform(0.02, 0.3))

    def prove(self, database, gateway):
        """Each answer is one notification, and nothing was received before its time. How many had one."""
        stored = {}
        for key, identity in database.execute("SELECT idempotencyKey, id FROM notification"):
            stored.setdefault(key, []).append(identity.upper())
        for key, identity in self.answered.items():
            if stored.get(key) != [identity.upper()]:
                fail(f"notification {identity} was answered with 202 and is stored as {stored.get(key)}")
        moments = {prefix_of(self.answered[key]): moment for key, moment in self.moments.items()
                   if key in self.answered}
        zones = dict(database.execute("SELECT id, timeZone FROM device WHERE environment = 1"))
        for apns_id, (at, _) in gateway.first.items():
            moment, zone = moments.get(prefix_of(apns_id), (0, None))
            if at < moment and (zone is None or zone == zones[recipient_of(apns_id)]):
                fail(f"{apns_id} came {moment - at} ms before its time")
        return len(moments)
