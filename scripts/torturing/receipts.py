"""The part in which installations send receipts beside campaigns, and the provider is killed."""

import collections
import random
import threading
import time
import uuid

from basics import APP, call, fail, figure, must, size
from proof import prove_rest
from provider import Provider
from pushservice import Answer, PushService
from receipts_judge import prove

EVENTS = ["delivered", "shown", "opened", "dismissed", "action", "converted"]
ACTIONS = ["REPLY", "LIKE", "DELETE"]
# Of one installation, notification and event; the provider keeps 20.
MOST = 15

# What an installation has to send, the same in every try.
Batch = collections.namedtuple("Batch", "installation body")


class Installation:
    """One installation with the secret that its registration returned."""

    def __init__(self, provider, number, key):
        self.name, self.key = f"installation-{number:06}", key
        body = {"token": f"{number:064x}", "environment": "sandbox"}
        self.secret = must(self.call(provider.port, "PUT", "", body), "a registration")["secret"]
        # How many receipts it has made, by notification and event.
        self.made = collections.Counter()

    def call(self, port, method, path, body):
        headers = {"authorization": f"Bearer {self.key}"}
        if path:
            headers["installation-secret"] = self.secret
        return call(port, method, f"/v1/apps/{APP}/installations/{self.name}{path}", body, headers)


class Sender(threading.Thread):
    """Sends the receipts of its installations, each until it is answered 200, and some of them again."""

    def __init__(self, provider, installations, notifications, rng):
        super().__init__(daemon=True)
        self.provider, self.installations, self.rng = provider, installations, rng
        self.notifications, self.ends = notifications, threading.Event()
        # The batches that were answered 200, and how often others were tried again.
        self.answered, self.silences, self.refusals, self.repeats, self.trouble = [], 0, 0, 0, None

    def run(self):
        try:
            while not self.ends.is_set():
                if self.answered and self.rng.random() < 0.15:
                    self.repeat(self.rng.choice(self.answered))
                elif batch := self.batch():
                    self.send(batch)
                    self.answered.append(batch)
        except Exception as error:  # The part fails with it.
            self.trouble = error

    def batch(self):
        """One to five receipts of an installation; None before there is a notification."""
        known = list(self.notifications)
        if not known:
            time.sleep(0.01)
            return None
        installation, receipts = self.rng.choice(self.installations), []
        for _ in range(self.rng.randint(1, 5)):
            notification, event = self.rng.choice(known[-6:]), self.rng.choice(EVENTS)
            if installation.made[notification, event] >= MOST:
                continue
            installation.made[notification, event] += 1
            receipt = {"id": str(uuid.UUID(int=self.rng.getrandbits(128), version=4)), "notification": notification,
                       "event": event, "at": int(time.time())}
            if event == "action":
                receipt["action"] = self.rng.choice(ACTIONS)
            receipts.append(receipt)
        return Batch(installation, {"privacy": "device", "receipts": receipts}) if receipts else None

    def send(self, batch):
        """Until it is answered. Whether it was written before a kill is not known."""
        while True:
            status, answer = batch.installation.call(self.provider.port, "POST", "/receipts", batch.body)
            if status == 200:
                if answer["refused"] or answer["accepted"] + answer["repeated"] != len(batch.body["receipts"]):
                    fail(f"receipts were refused: {answer}")
                return answer
            if status not in (None, 503, 429):
                fail(f"receipts: {status} {answer}")
            self.silences, self.refusals = self.silences + (status is None), self.refusals + (status is not None)
            time.sleep(0.01)

    def repeat(self, batch):
        self.repeats += 1
        if self.send(batch)["accepted"]:
            fail("a repeated receipt was accepted again")


def receipts(options, rng):
    delays = random.Random(rng.random())
    service = PushService(options.work, lambda *_: Answer(200, None, delays.random() * 0.05))
    arguments = ["--page", "50", "--public-key-rate", "0", "--key-rate", "0"]
    provider = Provider(options, f"{options.work}/receipts", service, arguments)
    provider.start()
    provider.add_app(APP)
    provider.must("PATCH", f"/v1/apps/{APP}", {"receipts": "device"})
    key = provider.must("POST", "/v1/keys", {"name": "app", "scopes": ["registerSelf"], "apps": [APP]})["key"]
    count = size("RECEIPT_INSTALLATIONS", 300)
    installations = [Installation(provider, number, key) for number in range(1, count + 1)]
    notifications, senders = [], []
    threads = 4
    for number in range(threads):
        # Each installation belongs to one sender.
        own = installations[number::threads]
        senders.append(Sender(provider, own, notifications, random.Random(rng.random())))
    for sender in senders:
        sender.start()
    for number in range(options.kills or 20):
        level = "counts" if number % 3 == 2 else "device"
        notifications.append(provider.send(APP, {"to": {"all": True}, "alert": f"{number}", "receipts": level}))
        time.sleep(rng.uniform(0.1, 1.2))
        provider.kill()
        provider.start()
    for sender in senders:
        sender.ends.set()
    for sender in senders:
        sender.join(timeout=60)
        if sender.trouble or sender.is_alive():
            fail(f"a sender of receipts: {sender.trouble or 'it does not end'}")
    answers = provider.await_end(notifications, 120)
    provider.wait_until_done(60)
    provider.stop()
    database = provider.database()
    batches = [batch for sender in senders for batch in sender.answered]
    stored = prove(database, batches, answers)
    prove_rest(provider, database)
    figure("receipts_kills", options.kills or 20, f"kills, {len(notifications)} campaigns to {count} installations")
    figure("receipts_answered", stored, "receipts answered 200, each stored once")
    figure("receipts_lost", 0, "receipts")
    figure("receipts_requests", len(batches), f"requests, {sum(s.repeats for s in senders)} repeated after their answer")
    figure("receipts_silences", sum(s.silences for s in senders),
           f"requests without an answer, sent again, {sum(s.refusals for s in senders)} told to come later")
