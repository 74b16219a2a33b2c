"""Work that goes on beside the campaigns until it is cut off."""

import collections
import os
import threading

from basics import APP, Failure, fail


class Worker:
    """Takes turns in a thread of its own while it is entered. What fails there fails where it is left."""

    is_over, failure = False, None

    def turn(self):
        raise NotImplementedError

    def run(self):
        try:
            while not self.is_over:
                self.turn()
        except Failure as failure:
            self.failure = failure

    def __enter__(self):
        self.is_over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        if self.failure:
            raise self.failure


class Registrar(Worker):
    """Registers devices of the other environment, one after the other, and remembers which were answered for."""

    def __init__(self, provider):
        self.provider, self.confirmed, self.refused = provider, [], collections.Counter()

    def turn(self):
        token = os.urandom(32).hex()
        body = {"token": token, "environment": "production", "tags": ["new"], "attributes": {"name": "Person"}}
        status, _ = self.provider.call("POST", f"/v1/apps/{APP}/devices", body)
        if status in (200, 201):
            self.confirmed.append(token)
        elif status is not None:
            self.refused[status] += 1

    def prove(self, database):
        """Whoever was answered is stored."""
        stored = {row[0].hex() for row in database.execute("SELECT token FROM device")}
        lost = [token for token in self.confirmed if token not in stored]
        if lost:
            fail(f"{len(lost)} registrations were answered and are not stored")
