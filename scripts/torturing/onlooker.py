"""Somebody who asks the API for notifications all the time, and writes down what it says."""

import random
import threading
import time

from stops_judge import Look


class Onlooker:
    """Asks in a thread for the notifications in `identities`, from `start` to `end`."""

    def __init__(self, provider, seed):
        self.provider, self.rng = provider, random.Random(seed)
        self.identities, self.looks, self.faults, self.is_over = [], [], [], False
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def start(self):
        self.thread.start()

    def end(self):
        self.is_over = True
        self.thread.join()

    def watch(self):
        while not self.is_over:
            identities = list(self.identities)
            if identities:
                self.look(self.rng.choice(identities), self.rng.random() < 0.3)
            time.sleep(0.005)

    def look(self, identity, lists):
        """Asks once, or twice with the accepted deliveries between."""
        listed = None
        if lists:
            first = self.ask(f"/v1/notifications/{identity}")
            if first is None:
                return
            count, cursor = 0, ""
            while True:
                page = self.ask(f"/v1/notifications/{identity}/deliveries?state=accepted&limit=1000{cursor}")
                if page is None:
                    return
                count += len(page["deliveries"])
                if not page.get("next"):
                    break
                cursor = f"&cursor={page['next']}"
            listed = first["counters"].get("accepted", 0), count
        asked = time.monotonic_ns()
        answer = self.ask(f"/v1/notifications/{identity}")
        if answer is not None:
            self.looks.append(Look(asked, time.monotonic_ns(), identity, answer["state"], answer["recipients"],
                                   answer["counters"], listed))

    def ask(self, path):
        """The answer; None for what is erased."""
        status, answer = self.provider.call("GET", path)
        if status not in (200, 404):
            self.faults.append(f"GET {path}: {status} {answer}")
        return answer if status == 200 else None
