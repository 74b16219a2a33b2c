"""The part with the worst readers: expensive counts, and campaigns whose few recipients no index finds, beside registrations at
full speed, and the length of the log."""

import os
import threading
import time

from basics import APP, call, fail, figure, size
from provider import Provider
from pushservice import PushService

# What docs/architecture.md promises.
BOUND = 64 * 1024 * 1024
COUNTERS, WRITERS = 4, 3
# Of so many devices one is a recipient of the campaigns.
RARE = 1000


class World:
    def __init__(self, options, rng):
        self.rng, self.is_over, self.greatest = rng, False, 0
        self.provider = Provider(options, f"{options.work}/log", PushService(options.work))
        self.devices, self.seconds = size("LOG_DEVICES", 20_000), size("LOG_SECONDS", 25)
        self.counts, self.registered, self.refused, self.found = {}, 0, {}, []
        self.campaigns, self.states = [], {}
        self.latencies, self.lock = [], threading.Lock()

    def set_up(self):
        self.provider.start()
        self.provider.add_app(APP)
        self.provider.register(APP, [self.device(number) for number in range(self.devices)])
        self.keys = [self.provider.must("POST", "/v1/keys", {"name": f"counter {number}", "scopes": ["read"]})["key"]
                     for number in range(COUNTERS)]

    def device(self, number):
        # Tokens, users and values are scattered over their indexes, so that each device changes many pages.
        return {"token": f"{number:08x}" + f"{self.rng.getrandbits(224):056x}", "environment": "sandbox",
                "user": f"{self.rng.getrandbits(64):016x}", "installation": f"installation-{number}",
                "tags": [] if number % RARE == 0 else ["common"],
                "attributes": {f"a{index}": f"{self.rng.getrandbits(64):016x}" for index in range(5)}}

    def expensive(self, number):
        """Conditions for which every device is looked at, with many look-ups each."""
        return [{"not": {"attribute": f"a{index % 5}", "is": f"{number}-{index}"}} for index in range(150)]

    def watch(self):
        path = f"{self.provider.folder}/provider.sqlite-wal"
        while not self.is_over:
            try:
                self.greatest = max(self.greatest, os.stat(path).st_size)
            except OSError:
                pass
            time.sleep(0.005)

    def count(self, client):
        number = 0
        while not self.is_over:
            number += 1
            status, _ = call(self.provider.port, "POST", f"/v1/apps/{APP}/audience:count",
                             {"audience": {"and": self.expensive(number)}},
                             {"authorization": f"Bearer {self.keys[client]}"}, timeout=60)
            with self.lock:
                self.counts[status] = self.counts.get(status, 0) + 1

    def send(self):
        """Campaigns one after another, each page of which looks at all devices for the few without a tag."""
        while not self.is_over:
            audience = {"and": [*self.expensive(len(self.campaigns)), {"not": {"tag": "common"}}]}
            self.campaigns.append(self.provider.send(APP, {"to": audience, "alert": "x", "environment": "sandbox"}))
            time.sleep(3)

    def write(self, part):
        number = part
        while not self.is_over:
            batch = [self.device((number + WRITERS * index) % self.devices) for index in range(500)]
            number = (number + WRITERS * 500) % self.devices
            begin = time.monotonic()
            status, answer = self.provider.call("POST", f"/v1/apps/{APP}/devices:batch", {"devices": batch})
            with self.lock:
                self.latencies.append(time.monotonic() - begin)
                if status == 200:
                    self.registered += len(batch)
                else:
                    self.refused[status] = answer

    def run(self):
        tasks = [threading.Thread(target=self.watch), threading.Thread(target=self.send)]
        tasks += [threading.Thread(target=self.count, args=(client,)) for client in range(COUNTERS)]
        tasks += [threading.Thread(target=self.write, args=(part,)) for part in range(WRITERS)]
        for task in tasks:
            task.start()
        time.sleep(self.seconds)
        self.is_over = True
        for task in tasks:
            task.join()
        for answer in self.provider.await_end(self.campaigns, 300):
            self.states[answer["state"]] = self.states.get(answer["state"], 0) + 1

    def judge(self):
        if self.greatest > BOUND:
            self.found.append(f"the log had {self.greatest} bytes, and {BOUND} are the promise")
        if self.greatest < BOUND // 4:
            self.found.append(f"the log had {self.greatest} bytes: too few to prove anything")
        if self.refused:
            self.found.append(f"registrations failed: {self.refused}")
        bad = {status: count for status, count in self.counts.items() if status not in (200, 429, 503)}
        if bad or not self.counts:
            self.found.append(f"counts ended with {self.counts}")
        if not self.counts.get(200):
            self.found.append(f"no count was answered: {self.counts}")
        if set(self.states) != {"done"}:
            self.found.append(f"campaigns ended as {self.states}")


def log(options, rng):
    world = World(options, rng)
    world.set_up()
    world.run()
    world.judge()
    world.provider.stop()
    latencies = sorted(world.latencies) or [0]
    figure("log_greatest_bytes", world.greatest, "bytes")
    figure("log_registrations", world.registered / world.seconds, "devices/s")
    figure("log_slowest_batch", latencies[-1], "s")
    figure("log_counts_answered", world.counts.get(200, 0), "counts")
    figure("log_campaigns", world.states.get("done", 0), "campaigns")
    figure("log_counts_refused", sum(count for status, count in world.counts.items() if status != 200), "counts")
    if world.found:
        fail("; ".join(world.found))
