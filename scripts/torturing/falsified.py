"""Small truthful records of what a run leaves behind, and ways to falsify them, for selftest."""

import copy
import uuid

from apns_id import apns_id, prefix_of
from people import Person
from pushservice import Push

DEVICES = 6


class Record:
    """Two notifications to six devices, one of them at most once; each is accepted once."""

    def __init__(self):
        self.people = [Person(number, FixedTokens(number)) for number in range(DEVICES)]
        for person in self.people:
            person.is_split = False
        self.answers, self.ledger, self.pushes, self.replays = [], {}, [], {}
        for number, guarantee in enumerate(["atLeastOnce", "atMostOnce"]):
            identity = str(uuid.UUID(int=(number + 1) << 100 | 4 << 76 | 2 << 62)).upper()
            self.answers.append({"id": identity, "app": "app", "state": "done", "guarantee": guarantee,
                                 "recipients": DEVICES,
                                 "counters": {"accepted": DEVICES, "rejected": 0, "failed": 0, "unknown": 0}})
            self.ledger[identity] = []
            self.replays[identity] = 202, {"id": identity}
            for place, person in enumerate(self.people):
                pushed = apns_id(prefix_of(identity), place + 1)
                self.ledger[identity].append({"apnsId": pushed, "state": "accepted"})
                self.pushes.append(Push(int((number * 10 + place) * 1e9), "sandbox", "app", person.token, pushed, 200, 0))

    @property
    def first(self):
        return self.answers[0]["id"]

    def lose_push(self):
        del self.pushes[0]

    def double_push(self):
        """The same push once more, in a quiet moment."""
        self.pushes.append(self.pushes[0]._replace(at=int(60e9)))

    def double_begun(self):
        self.pushes.append(self.pushes[DEVICES]._replace(at=int(60e9)))

    def double_token(self):
        """The same token under another apns-id, in the ledger too."""
        self.add(self.people[0].token)

    def double_device(self):
        """The same device with a new token."""
        self.people[0].tokens.append("ff" * 32)
        self.add("ff" * 32)

    def add(self, token):
        pushed = apns_id(prefix_of(self.first), 99)
        self.pushes.append(self.pushes[0]._replace(token=token, apns_id=pushed))
        self.ledger[self.first].append({"apnsId": pushed, "state": "accepted"})
        self.answers[0]["recipients"] += 1
        self.answers[0]["counters"]["accepted"] += 1

    def lose_state(self):
        self.ledger[self.first].pop()
        self.answers[0]["counters"]["accepted"] -= 1

    def lose_delivery(self):
        self.ledger[self.first].pop()

    def count_wrong(self):
        self.answers[0]["counters"]["accepted"] -= 1
        self.answers[0]["counters"]["failed"] += 1

    def skip_present(self):
        """One that was there all the time is skipped."""
        row = self.ledger[self.first][-1]
        row["state"] = "skipped"
        self.pushes = [push for push in self.pushes if push.apns_id != row["apnsId"]]
        self.answers[0]["counters"].update(accepted=DEVICES - 1, skipped=1)

    def leave_out_returned(self):
        """One that was away for a moment gets nothing."""
        self.people[0].absences = [(0, 1)]
        self.ledger[self.first][0]["state"] = "skipped"
        del self.pushes[0]
        self.answers[0]["counters"].update(accepted=DEVICES - 1, skipped=1)

    def fail_one(self):
        self.ledger[self.first][0]["state"] = "failed"
        self.count_wrong()

    def forget_key(self):
        self.replays[self.first] = 202, {"id": "another"}

    def refuse_replay(self):
        self.replays[self.first] = 409, {}

    def falsified(self, way):
        other = copy.deepcopy(self)
        getattr(other, way)()
        return other


class FixedTokens:
    def __init__(self, number):
        self.number = number

    def getrandbits(self, _):
        return self.number + 1
