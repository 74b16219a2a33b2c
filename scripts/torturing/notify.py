"""The part in which people press Notify for issues, again and again, and the provider is killed meanwhile."""

import collections
import random
import threading
import time

from apns_id import prefix_of
from basics import APP, call, fail, figure, must, size
from power_judge import after_start, in_ledger
from proof import prove_rest
from provider import Provider
from pushservice import Answer, PushService

PAGE = 50


class Presser(threading.Thread):
    """Presses Notify for an issue until it is answered, however often the provider dies."""

    def __init__(self, provider, issue):
        super().__init__(daemon=True)
        self.provider, self.issue, self.answer, self.silences, self.trouble = provider, issue, None, 0, None

    def run(self):
        headers = {"authorization": f"Bearer {self.provider.key}"}
        while not self.trouble:
            status, answer = call(self.provider.port, "POST", f"/v1/issues/{self.issue}:notify", {}, headers)
            if status in (200, 202):
                self.answer = answer["id"]
                return
            if status not in (None, 503, 429):
                self.trouble = f"Notify: {status} {answer}"
            self.silences += 1
            time.sleep(0.01)


class World:
    def __init__(self, options, rng):
        self.rng, delays = rng, random.Random(rng.random())
        self.service = PushService(options.work, lambda *_: Answer(200, None, delays.random() * 0.05))
        self.provider = Provider(options, f"{options.work}/notify", self.service, ["--page", str(PAGE)])
        self.provider.start()
        self.provider.add_app(APP)
        self.tokens = {f"{number:064x}" for number in range(1, size("NOTIFY_DEVICES", 300) + 1)}
        self.provider.register(APP, [{"token": token, "environment": "production", "attributes": {"newsstand": True}}
                                     for token in sorted(self.tokens)])
        path = f"/v1/apps/{APP}/publications"
        self.publication = self.provider.must("POST", path, {"name": "The Example"})["id"]
        file = self.provider.call("POST", f"/v1/apps/{APP}/files", b"an issue", {"content-type": "application/zip"})
        self.file = must(file, "a file")["sha256"]
        # The issues with the notification that the answers named; the ledger after each kill, with what had been received.
        self.issues, self.kills, self.silences, self.unanswered = {}, [], 0, 0

    def press(self, number):
        """A new issue, for which three people press Notify; the provider dies at a random moment of that, or of the sending."""
        body = {"productId": f"com.example.issue{number}", "title": f"Issue {number}", "number": f"{number}",
                "date": "2026-11-20"}
        issue = self.provider.must("POST", f"/v1/publications/{self.publication}/issues", body)["id"]
        self.provider.must("PUT", f"/v1/issues/{issue}/renditions/1024x768", {"file": self.file})
        self.provider.must("POST", f"/v1/issues/{issue}:publish", {})
        pressers = [Presser(self.provider, issue) for _ in range(3)]
        for presser in pressers:
            presser.start()
        # Half of the kills fall while it is accepted, the others while it is sent.
        if self.rng.random() < 0.5:
            pressers[0].join(timeout=10)
        time.sleep(self.rng.uniform(0, 0.3))
        self.provider.kill()
        self.unanswered += not any(presser.answer for presser in pressers)
        # What was on its way is received before the provider starts again.
        time.sleep(0.2)
        self.kills.append((in_ledger(self.provider.folder), list(self.service.received)))
        self.provider.start()
        for presser in pressers:
            presser.join(timeout=60)
            if presser.trouble or presser.is_alive():
                fail(presser.trouble or f"Notify of {issue} is never answered")
            self.silences += presser.silences
        names = {presser.answer for presser in pressers}
        if len(names) != 1:
            fail(f"issue {issue} was notified of as {names}")
        self.issues[issue] = names.pop()

    def prove(self, answers):
        """Each issue has one notification, which woke each device, and twice only those that were in flight at a kill."""
        received, found, lives = self.service.received, [], [0]
        for ledger, before in self.kills:
            found += after_start(ledger, before, received[len(before):], [], [])
            lives.append(len(before))
        for begin, end in zip(lives, [*lives[1:], len(received)]):
            again = end - begin - len({push.apns_id for push in received[begin:end]})
            if again:
                found.append(f"{again} pushes came twice without a kill")
        found += after_start(in_ledger(self.provider.folder)._replace(states={}), [], received, [], answers)
        database = self.provider.database()
        stored = {row[0].upper(): row[1] and row[1].upper() for row in database.execute("SELECT id, notification FROM issue")}
        count = database.execute("SELECT count(*) FROM notification").fetchone()[0]
        prove_rest(self.provider, database)
        database.close()
        if count != len(self.issues):
            found.append(f"{count} notifications for {len(self.issues)} issues")
        woken = collections.defaultdict(set)
        for push in received:
            woken[prefix_of(push.apns_id)].add(push.token)
        for issue, notification in self.issues.items():
            if stored.get(issue.upper()) != notification.upper():
                found.append(f"issue {issue} has {stored.get(issue.upper())} and was answered {notification}")
            rest = self.tokens - woken[prefix_of(notification)]
            if rest:
                found.append(f"{len(rest)} devices were not woken for {issue}, such as {min(rest)}")
        return found


def notify(options, rng):
    world, kills = World(options, rng), size("NOTIFY_KILLS", 4)
    for number in range(kills):
        world.press(number)
    answers = world.provider.await_end(list(world.issues.values()), 60)
    world.provider.wait_until_done(60)
    world.provider.stop()
    found = world.prove(answers)
    received = world.service.received
    figure("notify_kills", kills, f"kills during Notify, {world.unanswered} before any answer; {world.silences} requests came to nothing")
    figure("notify_received", len(received), f"pushes for {len(world.issues)} issues to {len(world.tokens)} devices")
    figure("notify_doubled", len(received) - len({push.apns_id for push in received}), "pushes, in flight at a kill, with the apns-id of the first")
    figure("notify_faults", len(found), "issues notified of twice or not, or devices left out, must be 0")
    if found:
        fail("\n".join(found[:20]))
