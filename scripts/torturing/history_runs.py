"""Schedules that are deleted or paused in the very moment in which they run: once that is answered, they run no more."""

import time

from basics import APP, fail

COUNT = 30
# Counting these recipients takes a while, so that the runs of one minute follow each other.
COSTLY = {"and": [{"not": {"attribute": f"name{number}", "is": number}} for number in range(40)]}


class DueSchedules:
    def __init__(self, provider, clock, rng):
        self.provider, self.clock, self.rng, self.schedules = provider, clock, rng, []

    def runs(self):
        """The notifications that schedules have made: their ids and schedules."""
        answer = self.provider.must("GET", f"/v1/apps/{APP}/notifications?limit=1000")
        return {note["id"]: note["schedule"]["id"] for note in answer["notifications"] if note.get("schedule")}

    def round(self):
        """Complaints about schedules that all run at the turn of a minute and are ended meanwhile."""
        self.await_turn(2)
        ids = [self.provider.must("POST", f"/v1/apps/{APP}/schedules", {
            "name": f"due {number}", "schedule": {"cron": "* * * * *", "timeZone": "UTC"},
            "notification": {"to": COSTLY, "alert": "due"}})["id"] for number in range(COUNT)]
        self.await_turn(0.05)
        begin, known = time.monotonic(), self.runs()
        # They begin to run.
        while len(self.runs()) == len(known) and time.monotonic() < begin + 10:
            time.sleep(0.002)
        ended = {}
        for identity in self.rng.sample(ids, COUNT):
            if self.rng.random() < 0.5:
                status, answer = self.provider.call("DELETE", f"/v1/schedules/{identity}")
            else:
                status, answer = self.provider.call("POST", f"/v1/schedules/{identity}:pause")
            if status not in (200, 204):
                fail(f"a schedule cannot be ended: {status} {answer}")
            ended[identity] = set(self.runs())
        time.sleep(1.5)
        late = [identity for note, identity in self.runs().items() if identity in ended and note not in ended[identity]]
        for identity in ids:
            self.provider.call("DELETE", f"/v1/schedules/{identity}")
        return [f"{len(late)} of {COUNT} schedules ran after it was answered that they were ended"] if late else []

    def await_turn(self, seconds):
        """Lets time pass until so long before the minute turns."""
        rest = 60 - self.clock.now % 60 - seconds
        self.clock.let_pass(rest if rest > 0 else rest + 60)
