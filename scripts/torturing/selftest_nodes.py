"""The judges of several nodes against a small true record, and falsified ones."""

import base64
import json

import nodes_judge
from apns_id import apns_id, prefix_of
from nodes_judge import Expected, Judgement, Trouble
from pushservice import Push

IDS = [f"{number}AAAAAAA-0000-4000-8000-000000000000" for number in range(1, 4)]
TOKENS = [f"{number:064x}" for number in range(4)]
KINDS = [("atLeastOnce", "done"), ("atMostOnce", "done"), ("atLeastOnce", "cancelled")]


def text(issued, kid="KEY"):
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
             for part in ({"kid": kid}, {"iss": "TEAM", "iat": issued})]
    return f"bearer {'.'.join(parts)}.{issued}"


class Record:
    """Three notifications to four devices, of which one came again: it was in flight when its node was killed."""

    def __init__(self):
        self.expected, self.answers, self.ledger, self.pushes = {}, [], {}, []
        for number, (guarantee, state) in enumerate(KINDS):
            identity = IDS[number]
            self.expected[identity] = Expected(set(TOKENS), guarantee, state == "cancelled")
            self.answers.append({"id": identity, "state": state, "recipients": 4, "counters": {"accepted": 4}})
            self.ledger[identity] = {recipient: 1 for recipient in range(1, 5)}
            for place, token in enumerate(TOKENS):
                pushed = apns_id(prefix_of(identity), place + 1)
                self.pushes.append(Push(int((100 + number * 100 + place) * 1e9), "n1", "app", token, pushed, 200, 0, text(0)))
        self.troubles = [Trouble("kill", "n1", int(103e9), int(103e9))]
        self.pushes.append(self.pushes[3]._replace(at=int(125e9), environment="n2"))
        self.told = {f"{apns_id(prefix_of(identity), recipient)}.accepted"
                     for identity, states in self.ledger.items() for recipient in states}
        self.runs, self.promised = {"S": [7, 8]}, {"S": {7, 8}}
        self.faults, self.refusals, self.rest, self.broken = [], [("n2", 1.2)], {"leases": 0}, {"rows": 0}

    def complaints(self):
        found = Judgement(self.expected, self.answers, self.ledger, self.pushes, self.troubles).complaints
        for judged in (nodes_judge.webhook_complaints(self.told, self.ledger, self.faults),
                       nodes_judge.run_complaints(self.runs, self.promised), nodes_judge.token_complaints(self.pushes),
                       nodes_judge.key_complaints(self.refusals), nodes_judge.rest_complaints(self.rest),
                       nodes_judge.integrity_complaints(self.broken)):
            found += judged
        return found

    def again(self, place, **changes):
        self.pushes.append(self.pushes[place]._replace(**changes))

    def state(self, number, recipient, state, word=None):
        """Changes a final state everywhere but at the push service."""
        identity = IDS[number]
        self.ledger[identity][recipient] = state
        self.answers[number]["counters"] = {"accepted": 3, word: 1}
        pushed = apns_id(prefix_of(identity), recipient)
        self.told = self.told - {f"{pushed}.accepted"} | {f"{pushed}.{word}"}


# Each way with the words of the complaint that it deserves.
WAYS = {
    "a notification lost": ("is not there", lambda record: record.answers.pop(0)),
    "a notification that nobody asked for": ("never asked for", lambda record: record.expected.pop(IDS[0])),
    "a final state lost": ("3 are accepted in the ledger", lambda record: record.ledger[IDS[0]].pop(1)),
    "a final state too many": ("5 final states of 4", lambda record: record.ledger[IDS[0]].update({9: 1})),
    "a begun one left": ("1 are begun", lambda record: record.ledger[IDS[1]].update({1: 0})),
    "counted wrongly": ("0 are failed in the ledger, 1 counted", lambda record: record.answers[0]["counters"].update(
        accepted=3, failed=1)),
    "a recipient lost": ("3 recipients instead of 4", lambda record: record.answers[0].update(recipients=3)),
    "never received": ("were never received", lambda record: record.pushes.pop(0)),
    "not to all": ("1 of 4 have not got it", lambda record: record.pushes.__setitem__(
        1, record.pushes[1]._replace(token=TOKENS[0]))),
    "received, failed in the ledger": ("is failed in the ledger", lambda record: record.state(0, 1, 3, "failed")),
    "unknown, at least once": ("has ended with {'unknown': 1}", lambda record: record.state(0, 1, 5, "unknown")),
    "failed, at most once": ("has ended with {'failed': 1}", lambda record: record.state(1, 1, 3, "failed")),
    "cancelled without a wish": ("which nobody asked for", lambda record: record.answers[0].update(state="cancelled")),
    "received, cancelled in peace, not in the ledger": ("is None in the ledger", lambda record: (
        record.ledger[IDS[2]].pop(1), record.answers[2].update(counters={"accepted": 3}),
        record.told.discard(f"{apns_id(prefix_of(IDS[2]), 1)}.accepted"))),
    "twice without any trouble": ("without any trouble", lambda record: record.troubles.clear()),
    "twice in peace": ("without any trouble", lambda record: record.again(8, at=int(400e9))),
    "twice, in trouble of another node": ("without any trouble", lambda record: record.troubles.__setitem__(
        0, record.troubles[0]._replace(node="n3"))),
    "twice, at most once": ("at most once", lambda record: record.again(4, at=int(204e9)) or record.troubles.append(
        Trouble("kill", "n1", int(203e9), int(203e9)))),
    "under two apns-ids": ("under several apns-ids", lambda record: record.pushes.__setitem__(
        1, record.pushes[1]._replace(token=TOKENS[0]))),
    "to a stranger": ("that it was not for", lambda record: record.pushes.__setitem__(
        0, record.pushes[0]._replace(token="ff"))),
    "of nothing known": ("belong to no notification", lambda record: record.again(
        0, apns_id=apns_id(prefix_of("9" + IDS[0][1:]), 1))),
    "more than was in flight": ("pushes came again for kill", lambda record: [
        record.again(3, at=int(103e9) + number) for number in range(2000)]),
    "above its pace": ("pushes in one second at a rate", lambda record: (
        record.expected.update({IDS[0]: record.expected[IDS[0]]._replace(rate=1)}), record.pushes.extend(
            record.pushes[0]._replace(apns_id=apns_id(prefix_of(IDS[0]), 10 + number)) for number in range(400)))),
    "a webhook not told": ("were not told to a webhook", lambda record: record.told.pop()),
    "a webhook told too much": ("that are not in the ledger", lambda record: record.told.add(
        f"{apns_id(prefix_of(IDS[0]), 9)}.accepted")),
    "a webhook out of order": ("told wrongly", lambda record: record.faults.append("out of order")),
    "a run left out": ("has not run at [8]", lambda record: record.runs["S"].pop()),
    "a run twice": ("ran more than once at [7]", lambda record: record.runs["S"].append(7)),
    "a run too many": ("at [9] without a promise", lambda record: record.runs["S"].append(9)),
    "two provider tokens": ("two provider tokens", lambda record: record.again(0, status=503, authorization=text(600))),
    "a removed key": ("after None s", lambda record: record.refusals.append(("n3", None))),
    "a removed key for long": ("after 9.0 s", lambda record: record.refusals.append(("n3", 9.0))),
    "a lease left": ("1 leases are left", lambda record: record.rest.update(leases=1)),
    "a row that contradicts": ("1 rows", lambda record: record.broken.update(rows=1)),
}


def nodes():
    """Trials for selftest: a name, whether it is true, and the complaints."""
    yield "a true record", True, Record().complaints()
    for way in ("another key", "twenty minutes later"):
        record = Record()
        token = text(600, "OTHER") if way == "another key" else text(1200)
        record.pushes[0] = record.pushes[0]._replace(authorization=token)
        yield way, True, record.complaints()
    # A push that was interrupted under at-most-once is unknown, whether or not it was received.
    for is_received in (True, False):
        record = Record()
        record.state(1, 1, 5, "unknown")
        if not is_received:
            del record.pushes[4]
        yield f"interrupted, received: {is_received}", True, record.complaints()
    for name, (words, falsify) in WAYS.items():
        record = Record()
        falsify(record)
        yield name, False, [text for _, text in record.complaints() if words in text]
