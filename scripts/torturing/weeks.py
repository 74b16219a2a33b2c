"""The part in which weeks pass: what is to be kept is kept, what is to be forgotten is forgotten, each run is made once."""

import os
import time
import uuid

from basics import APP, fail, figure, size
from provider import Provider
from pushservice import PushService
from shim import Clock, make_certificate
from weeks_judge import run_complaints, state_complaint

DAY, STEP = 86_400, 6 * 3600
RETENTION = 7


class World:
    def __init__(self, options, rng):
        self.rng, self.clock = rng, Clock(options.work)
        make_certificate(options.work, self.clock)
        self.service = PushService(options.work)
        self.provider = Provider(
            options, f"{options.work}/weeks", self.service,
            ["--retention-days", str(RETENTION), "--event-retention-days", "3"], self.clock.variables)
        self.provider.start()
        self.provider.add_app(APP)
        self.provider.register(APP, [{"token": f"{rng.getrandbits(256):064x}", "environment": "sandbox"}
                                     for _ in range(20)])
        # By id: key, body, and when it had ended. Runs by schedule, as far as they were seen: by moment, ids.
        self.sent, self.schedules, self.runs, self.deleted = {}, [], {}, {}
        self.found, self.forgotten = [], 0

    def add_schedule(self, hour):
        answer = self.provider.must("POST", f"/v1/apps/{APP}/schedules", {
            "name": f"at {hour}", "schedule": {"cron": f"0 {hour} * * *", "timeZone": "UTC", "missedRuns": "runAll",
                                               "maximumRuns": 5},
            "notification": {"to": {"all": True}, "alert": "daily"}})
        self.schedules.append(answer["id"])
        self.runs[answer["id"]] = {}

    def send(self):
        key, body = str(uuid.UUID(int=self.rng.getrandbits(128))), {"to": {"all": True}, "alert": "weeks"}
        identity = self.provider.send(APP, body, key)
        self.provider.await_end([identity], 20)
        self.sent[identity] = key, body, self.clock.now

    def pass_day(self):
        for _ in range(DAY // STEP):
            self.clock.let_pass(STEP)
            # The timers strike, and what they cause is done.
            time.sleep(0.25)
            self.read_runs()

    def read_runs(self):
        answer = self.provider.must("GET", f"/v1/apps/{APP}/notifications?limit=100")
        for notification in answer["notifications"]:
            if run := notification.get("schedule"):
                self.runs[run["id"]].setdefault(run["atMs"], set()).add(notification["id"])

    def look(self):
        """Each notification is there until its time is over, with its key, and gone a day later."""
        for identity, (key, body, ended) in list(self.sent.items()):
            age = (self.clock.now - ended) / DAY
            status, _ = self.provider.call("GET", f"/v1/notifications/{identity}")
            replay = None
            if age < RETENTION:
                replay = self.provider.call("POST", f"/v1/apps/{APP}/notifications", body, {"idempotency-key": key})
            if complaint := state_complaint(identity, age, RETENTION, status, replay):
                self.found.append(complaint)
            if status == 404:
                self.forgotten += 1
                del self.sent[identity]


def weeks(options, rng):
    world, days = World(options, rng), size("WEEKS_DAYS", 21)
    for hour in (3, 9, 15):
        world.add_schedule(hour)
    begin, size_at_first = world.clock.now, 0
    for day in range(days):
        world.send()
        world.pass_day()
        world.look()
        if day == days // 2:
            # Just before it would run: what was deleted runs no more.
            identity = world.schedules[0]
            world.provider.must("DELETE", f"/v1/schedules/{identity}")
            world.deleted[identity] = world.clock.now
        if day % 5 == 4:
            world.provider.stop()
            world.provider.start()
        if day == days * 2 // 3:
            size_at_first = os.path.getsize(f"{options.work}/weeks/provider.sqlite")
    end = world.clock.now
    received = {push.apns_id for push in world.service.received}
    world.provider.stop()
    for identity in world.schedules:
        world.found += run_complaints(identity, world.runs[identity], begin, world.deleted.get(identity, end))
    if len(received) != len(world.service.received):
        world.found.append(f"{len(world.service.received) - len(received)} pushes came twice")
    pushes = sum(len(runs) for runs in world.runs.values()) * 20 + (days * 20)
    if len(received) != pushes:
        world.found.append(f"{len(received)} pushes for {pushes} recipients")
    growth = os.path.getsize(f"{options.work}/weeks/provider.sqlite") / max(1, size_at_first)
    figure("weeks_days", days, f"days, {len(received)} pushes, none lost or doubled")
    figure("weeks_runs", sum(map(len, world.runs.values())), "runs of daily schedules, each once")
    figure("weeks_forgotten", world.forgotten, f"notifications forgotten after {RETENTION} days, none before")
    figure("weeks_growth", growth, "times the size of the database at two thirds of the time")
    if world.found:
        fail("\n".join(world.found[:20]))
    if days > RETENTION + 3 and not world.forgotten:
        fail(f"nothing was forgotten in {days} days")
