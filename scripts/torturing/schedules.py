"""Schedules that run every minute, each with one of the policies for missed runs."""

import time

from basics import APP, fail
from provider import GROUPS

COUNT = 12
# Of what was missed: the latest five; the latest; what is less than a minute late.
POLICIES = [{"missedRuns": "runAll", "maximumRuns": 5}, {"missedRuns": "runOnce"}, {"missedRuns": "skip"}]
CLOCKS = ["Europe/Berlin", "Asia/Kathmandu", "America/New_York", "UTC"]
MISSED = 10 * 60_000


def minute():
    return int(time.time() // 60)


def is_amid():
    """Whether the minute does not turn soon and has not turned just now."""
    return 2 <= time.time() % 60 <= 45


def await_amid():
    while not is_amid():
        time.sleep(0.2)


class Schedules:
    def __init__(self, provider, rng):
        self.provider, self.rng = provider, rng
        # By id: its policy, its audience's tag, and the minutes of the runs that make up for missed ones.
        self.policies, self.groups, self.made_up = {}, {}, {}
        self.lapses = 0

    def add(self):
        await_amid()
        self.begin = minute()
        for number in range(COUNT):
            policy, group = POLICIES[number % len(POLICIES)], f"group{number % GROUPS}"
            schedule = {"cron": "* * * * *", "timeZone": CLOCKS[number % len(CLOCKS)], **policy}
            notification = {"to": {"tag": group}, "environment": "sandbox", "alert": "again and again"}
            answer = self.provider.must("POST", f"/v1/apps/{APP}/schedules", {
                "name": f"schedule {number}", "schedule": schedule, "notification": notification})
            identity = answer["id"].upper()
            self.policies[identity], self.groups[identity], self.made_up[identity] = policy, group, set()

    def miss(self):
        """While the provider is down: as if it had been down for ten minutes. `prove` knows what each policy promises."""
        database = self.provider.database("rw")
        with database:
            # No run is made for a time before the schedule was added or ran last.
            database.execute("UPDATE schedule SET nextRunAt = nextRunAt - :missed, lastRunAt = lastRunAt - :missed, "
                             "createdAt = createdAt - :missed", {"missed": MISSED})
        database.close()
        self.lapses += 1
        self.missed_in = minute()
        for identity, policy in self.policies.items():
            count = policy.get("maximumRuns", 1)
            self.made_up[identity] |= set(range(self.missed_in - count + 1, self.missed_in + 1))

    def settle(self):
        """Until nothing is due."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            answer = self.provider.must("GET", f"/v1/apps/{APP}/schedules")
            if all(schedule["nextRunAtMs"] > time.time() * 1000 for schedule in answer["schedules"]):
                return
            time.sleep(0.1)
        fail("schedules are due and do not run")

    def made_up_for(self):
        """What was missed has been run, in the same minute: later other runs would be the latest."""
        self.settle()
        if minute() != self.missed_in:
            fail("this machine is too slow to know which runs are the latest")

    def end(self):
        await_amid()
        self.settle()
        for identity in self.policies:
            self.provider.must("POST", f"/v1/schedules/{identity}:pause")
        self.last = minute()

    def prove(self, database):
        """Each promised run is one notification, and each device of its audience has one delivery. How many runs."""
        total = 0
        for identity, group in self.groups.items():
            promised = set(range(self.begin + 1, self.last + 1)) | self.made_up[identity]
            rows = database.execute(
                "SELECT number, runAt FROM notification WHERE schedule = ?", (identity,)).fetchall()
            runs = sorted(at / 60_000 for _, at in rows)
            if runs != sorted(promised):
                fail(f"schedule {identity}, {self.policies[identity]}, ran at {runs} and not at {sorted(promised)}")
            devices = database.execute("SELECT device FROM deviceTag WHERE tag = ? ORDER BY device", (group,)).fetchall()
            for number, _ in rows:
                reached = database.execute(
                    "SELECT recipient FROM delivery WHERE notification = ? AND state = 1 ORDER BY recipient", (number,))
                if reached.fetchall() != devices:
                    fail(f"a run of schedule {identity} has not reached just the devices of {group}")
            total += len(rows)
        return total
