"""Five apps: one has a push service that never answers, one a hostile client, and the campaigns of the others must go on."""

import random
import threading
import time

from apps_judge import complaints, p99
from basics import call, figure, size
from provider import Provider
from pushservice import SILENCE, Answer, PushService

GOOD = ["com.example.One", "com.example.Two", "com.example.Three"]
SILENT, HOSTILE = "com.example.Silent", "com.example.Hostile"
# Campaigns of the silent app, each with a walker's place of its own; clients that do their worst.
SILENT_CAMPAIGNS, HOSTILE_CLIENTS = 12, 3
# A campaign of a good app takes about so long when it is alone.
SECONDS = 3


class World:
    def __init__(self, options, rng):
        self.rng, self.service = rng, PushService(options.work, self.judge)
        self.provider = Provider(options, f"{options.work}/apps", self.service, ["--page", "300"])
        self.devices, self.is_over, self.hostile = size("APP_DEVICES", 600), False, 0

    @staticmethod
    def judge(environment, token, topic, apns_id):
        if topic == SILENT:
            return SILENCE
        if topic == HOSTILE and int(token[:2], 16) < 240:
            return Answer(400, "BadDeviceToken", 0.001)
        return Answer(200, None, 0.02)

    def set_up(self):
        self.provider.start()
        for app in [*GOOD, SILENT, HOSTILE]:
            self.provider.add_app(app)
            count = self.devices * (3 if app == HOSTILE else 1)
            self.provider.register(app, [self.device(number) for number in range(count)])
        key = self.provider.must("POST", "/v1/keys", {"name": "hostile", "scopes": ["read", "send", "register"]})
        self.hostile_key = key["key"]

    def device(self, number):
        return {"token": f"{self.rng.getrandbits(256):064x}", "environment": "sandbox", "tags": [f"group{number % 10}"],
                "user": f"user{number}", "attributes": {"level": number % 50, "city": f"city {number}"}}

    def measure(self):
        """Seconds of a campaign of each good app, all at the same time, and of urgent pushes from the request to the push
        service."""
        begin = time.monotonic()
        identities = {self.provider.send(app, {
            "to": {"all": True}, "alert": "apps", "pace": {"rate": max(1, self.devices // SECONDS)}}): app for app in GOOD}
        urgent = []
        while time.monotonic() < begin + SECONDS:
            urgent.append(self.urgent())
            time.sleep(0.05)
        answers = self.provider.await_end(list(identities), 10 * SECONDS + 30)
        seconds = {identities[answer["id"]]: answer["finishedAtMs"] / 1000 - answer["startsAtMs"] / 1000
                   for answer in answers}
        reads = []
        for _ in range(20):
            at = time.monotonic()
            self.provider.must("GET", "/v1/apps")
            reads.append(time.monotonic() - at)
        return seconds, self.latencies(urgent), reads, answers

    def urgent(self):
        """When it was asked for, and its id."""
        at = time.monotonic_ns()
        token = f"{self.rng.getrandbits(256):064x}"
        self.provider.send(self.rng.choice(GOOD), {
            "to": {"tokens": [token]}, "environment": "sandbox", "alert": "urgent"})
        return at, token

    def latencies(self, urgent):
        """Seconds until each was received. What has not come yet gets 10 s."""
        end, times = time.monotonic() + 10, {}
        while time.monotonic() < end:
            times = {push.token: push.at for push in list(self.service.received)}
            if all(token in times for _, token in urgent):
                break
            time.sleep(0.1)
        return [(times.get(token, at + 10e9) - at) / 1e9 for at, token in urgent]

    def do_worst(self):
        """Costly questions, clients that hang up, campaigns to bad tokens, refused requests."""
        rng = random.Random(self.rng.random())
        headers = {"authorization": f"Bearer {self.hostile_key}"}
        costly = {"and": [{"not": {"attribute": f"name{number}", "is": number}} for number in range(60)]}
        while not self.is_over:
            kind = rng.randrange(5)
            if kind == 0:
                self.ask(headers, "audience:count", {"audience": costly}, 20)
            elif kind == 1:
                self.ask(headers, "audience:preview", {"audience": costly, "limit": 100}, 0.05)
            elif kind == 2:
                self.ask(headers, "notifications", {"to": {"all": True}, "alert": "bad", "environment": "sandbox"}, 20)
            elif kind == 3:
                self.ask(headers, "devices", self.device(rng.randrange(10 ** 6)), 20)
            else:
                self.ask(headers, "notifications", {"to": {"all": 5}}, 20)
            self.hostile += 1

    def ask(self, headers, path, body, timeout):
        call(self.provider.port, "POST", f"/v1/apps/{HOSTILE}/{path}", body, headers, timeout)

    def torment(self):
        """From now on the others do their worst."""
        for _ in range(SILENT_CAMPAIGNS):
            self.provider.send(SILENT, {"to": {"all": True}, "alert": "never"})
        threads = [threading.Thread(target=self.do_worst) for _ in range(HOSTILE_CLIENTS)]
        for thread in threads:
            thread.start()
        return threads


def silent(options, rng):
    """Complaints about what the others notice."""
    world = World(options, rng)
    world.set_up()
    alone = world.measure()
    figure("apps_alone", max(alone[0].values()), f"s for the slowest of {len(GOOD)} campaigns")
    threads = world.torment()
    time.sleep(1)
    try:
        beside = world.measure()
    finally:
        world.is_over = True
        for thread in threads:
            thread.join()
    world.provider.kill()
    slower = max(beside[0][app] / alone[0][app] for app in GOOD)
    figure("apps_beside", max(beside[0].values()), "s beside a silent push service and a hostile client")
    figure("apps_slower", slower, "times slower at most, wanted are 2")
    figure("apps_urgent_quiet", p99(alone[1]) * 1000, "ms, p99 of urgent pushes beside good campaigns only")
    figure("apps_urgent", p99(beside[1]) * 1000, f"ms, {p99(beside[1]) / p99(alone[1]):.1f} times, wanted are 3")
    figure("apps_reads", p99(beside[2]) * 1000, f"ms, p99 of GET /v1/apps, quiet {p99(alone[2]) * 1000:.0f} ms")
    figure("apps_hostile", world.hostile, "requests of the hostile client")
    return complaints(alone, beside)
