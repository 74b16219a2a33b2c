"""The gateway's event log: what was received, and when."""

import collections

from basics import APP, call, fail, must


class Gateway:
    def __init__(self, port):
        self.port, self.last = port, 0
        # By apns-id: the first time in milliseconds and the device; how often it came again.
        self.first, self.again = {}, collections.Counter()

    def must(self, method, path, body=None):
        return must(call(self.port, method, path, body), f"gateway: {method} {path}")

    def read(self):
        """Reads on in the log. How many notifications came that had come before."""
        doubled = 0
        while True:
            events = self.must("GET", f"/v1/events?topic={APP}&after={self.last}&limit=1000")["events"]
            for event in events:
                self.last = event["id"]
                if event["event"] == "Received by APNs" and event.get("apnsId"):
                    doubled += self.take(event["apnsId"].lower(), event["timeMs"], event["device"])
            if not events:
                return doubled

    def take(self, apns_id, at, device):
        """Whether it had come before."""
        if apns_id not in self.first:
            self.first[apns_id] = at, device
            return False
        if self.first[apns_id][1] != device:
            fail(f"{apns_id} went to several devices")
        self.again[apns_id] += 1
        return True

    def forget(self):
        self.first.clear()
        self.again.clear()
