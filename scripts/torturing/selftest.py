"""The part that tries the judges: what is true pleases them, and each way to falsify it is noticed."""

import collections
import random

import apps_judge
import churn_judge
import clock_judge
import history_models as models
import network_judge
import power_judge
import stops_judge
import weeks_judge
from apns_id import prefix_of
from basics import fail, figure
from falsified import DEVICES, Record
from linear import Operation, first_impossible
from powerloss import Disk, Operation as Change
from selftest_kills import kills
from selftest_nodes import nodes
from selftest_receipts import receipts
from witness import Device, Final, Note, Promises



def selftest(options, rng):
    tried = 0
    for trial in (kills, receipts, records, power, disk, history, apps, weeks, bursts, stops, nodes):
        for name, is_true, complaints in trial():
            if is_true == bool(complaints):
                fail(f"{trial.__name__}: {name}: {complaints or 'nobody complains'}")
            tried += 1
    figure("selftest_tried", tried, "records, true and falsified; judged as they deserve")


def records():
    """Judges of what was received, counted and answered."""
    judges = {
        "churn": lambda record: churn_judge.complaints(record.answers, record.ledger, record.pushes, record.people),
        "time": lambda record: clock_judge.complaints(
            record.answers, record.ledger, record.pushes, DEVICES, record.replays),
        "network": lambda record: network_judge.complaints(record.answers, record.ledger, record.pushes, [(8e9, 9e9)]),
    }
    common = ["lose_push", "double_begun", "double_token", "lose_state", "lose_delivery", "count_wrong"]
    ways = {"churn": [*common, "double_push", "double_device", "skip_present", "leave_out_returned"],
            "time": [*common, "double_push", "forget_key", "refuse_replay", "skip_present"],
            "network": ["lose_push", "double_begun", "double_token", "lose_state", "lose_delivery", "fail_one"]}
    for name, judge in judges.items():
        yield name, True, judge(Record())
        for way in ways[name]:
            yield f"{name}: {way}", False, judge(Record().falsified(way))
    # Just before a kill something may come twice, else it may not.
    for way in ("double_token", "double_device"):
        record = Record().falsified(way)
        for kill, is_true in ((int(1e9), True), (int(30e9), False)):
            yield f"churn: {way}, a kill", is_true, churn_judge.complaints(
                record.answers, record.ledger, record.pushes, record.people, [kill])
    # In a quiet moment nothing may come again, beside a trouble it may.
    record = Record().falsified("double_push")
    yield "network: quiet", False, network_judge.complaints(record.answers, record.ledger, record.pushes, [(50e9, 51e9)])
    yield "network: trouble", True, network_judge.complaints(record.answers, record.ledger, record.pushes, [(0, 1e9)])


def power():
    """What was promised, against what is on the disk, and what a provider does with that."""
    record = Record()
    identity, pushed = record.first, record.pushes[0].apns_id
    promised = Promises([Note(1, "key", identity, {})], [Device(1, "aa")], [Final(1, identity, pushed, "accepted")])
    ledger = power_judge.Ledger(["ok"], {"key": identity}, {"aa"}, {pushed: 1},
                                {prefix_of(answer["id"]): answer["guarantee"] for answer in record.answers})
    yield "disk", True, power_judge.kept(ledger, promised)
    for name, change in {"damaged": {"verdict": ["row missing"]}, "notification lost": {"keys": {}},
                         "another notification": {"keys": {"key": "X"}}, "device lost": {"tokens": set()},
                         "final state lost": {"states": {}}, "another final state": {"states": {pushed: 3}}}.items():
        yield name, False, power_judge.kept(ledger._replace(**change), promised)
    yield "no database", False, power_judge.kept(None, promised)

    begun = [push for push in record.pushes if push.apns_id != pushed]
    replays = [(promised.notes[0], (202, {"id": identity}))]
    yield "start", True, power_judge.after_start(ledger, [], begun, replays, record.answers)
    in_flight = begun[:2]
    yield "start again", True, power_judge.after_start(ledger, in_flight, begun, replays, record.answers)
    once = record.pushes[DEVICES:]
    many = [begun[0]] * (power_judge.PAGES * 50 + power_judge.SINGLE + 1)
    for name, before, after in (
            ("ended and sent again", [], record.pushes), ("at most once came again", once[:1], once),
            ("another apns-id", [begun[0]._replace(apns_id=begun[1].apns_id)], begun),
            ("too many again", begun[:1], many)):
        yield name, False, power_judge.after_start(ledger, before, after, replays, record.answers)
    for reply in ((202, {"id": "another"}), (409, {}), (None, None)):
        yield f"replay {reply}", False, power_judge.after_start(
            ledger, [], begun, [(promised.notes[0], reply)], record.answers)
    wrong = record.falsified("lose_state").answers
    yield "counters", False, power_judge.after_start(ledger, [], begun, replays, wrong)


def disk():
    """What a power failure leaves of one file: what was synchronized always, everything else in some states only."""
    def states(kinds, way="lost"):
        platter = Disk("/d", random.Random(1))
        for kind, offset, content in kinds:
            platter.take(Change(kind, 0, 5 if kind != "f" else 6, offset, 0, content))
        return platter.state(way)[0]

    folder = [("o", 0, b"/d")]
    synced = [("c", 0, b"/d/f"), ("w", 0, b"one"), ("s", 0, b""), ("x", 0, b""), *folder, ("s", 0, b"")]
    yield "synchronized", True, states(synced) != {"f": b"one"}
    yield "name not synchronized", True, states(synced[:4]) != {}
    yield "content not synchronized", True, states([*synced[:2], *synced[3:]]) != {"f": b""}
    later = [*synced, ("x", 0, b""), ("o", 0, b"/d/f"), ("w", 3, b"two")]
    yield "later write", True, states(later) != {"f": b"one"}
    yield "later write kept", True, states(later, "kept") != {"f": b"onetwo"}
    yield "renamed", True, states([*synced, ("r", 0, b"/d/f\0/d/g")], "kept") != {"g": b"one"}
    yield "renamed and lost", True, states([*synced, ("r", 0, b"/d/f\0/d/g")]) != {"f": b"one"}
    yield "removed", True, states([*synced, ("u", 0, b"/d/f"), *folder, ("s", 0, b"")]) != {}
    # Sectors of one write arrive or not, each for itself.
    sectors = [("c", 0, b"/d/f"), ("s", 0, b""), ("x", 0, b""), *folder, ("s", 0, b""), ("x", 0, b""),
               ("o", 0, b"/d/f"), ("w", 0, b"a" * 4096)]
    torn = states(sectors, "torn")["f"]
    yield "torn", True, not 0 < torn.count(b"a") < 4096


def history():
    def operation(begin, end, name, argument=None, result=None):
        return Operation(begin, end, name, argument, result)

    def change(begin, end, value):
        return operation(begin, end, "change", (("a", value),), (200, (("a", value),)))

    def read(begin, end, value):
        return operation(begin, end, "read", None, (200, (("a", value),)))

    def judged(*operations, model=models.fields, initial=(("a", "0"),)):
        found = first_impossible(operations, initial, model)
        return [found] if found else []

    yield "in order", True, judged(change(0, 1, "1"), read(2, 3, "1"), change(4, 5, "2"), read(6, 7, "2"))
    yield "overlapping", True, judged(
        change(0, 9, "1"), read(1, 2, "1"), read(1, 2, "0"), change(3, 4, "2"), read(10, 11, "2"))
    yield "undone", False, judged(change(0, 1, "1"), change(2, 3, "2"), read(4, 5, "1"))
    yield "never said", False, judged(change(0, 1, "1"), read(2, 3, "3"))
    yield "back again", False, judged(change(0, 9, "1"), read(1, 2, "1"), read(3, 4, "0"))
    yield "refused", True, judged(operation(0, 1, "change", (("a", "1"),), (409, None)), read(2, 3, "0"))
    mutual = (operation(0, 2, "delete", ("x", "y"), (204,)), operation(1, 3, "delete", ("y", "x"), (204,)))
    yield "keys both gone", False, judged(*mutual, model=models.keys, initial=frozenset("xy"))
    one = mutual[1]._replace(result=(401,))
    yield "one key gone", True, judged(mutual[0], one, model=models.keys, initial=frozenset("xy"))
    going = [operation(0, 1, "cancel", None, (200, "cancelled")), operation(2, 3, "resume", None, (200, "going"))]
    yield "cancelled goes on", False, judged(*going, model=models.progress, initial="going")
    yield "cancelled stays", True, judged(
        going[0], going[1]._replace(result=(409, None)), model=models.progress, initial="going")
    rotations = [operation(0, 1, "rotate", None, (200, "s1")), operation(2, 3, "rotate", None, (200, "s2"))]
    yield "secrets", True, models.possible_secrets(rotations) != ["s2"]


def apps():
    answers = Record().answers
    alone = {"a": 3.0}, [0.05] * 100, [0.01], answers
    yield "as alone", True, apps_judge.complaints(alone, alone)
    yield "slow campaign", False, apps_judge.complaints(alone, ({"a": 30.0}, *alone[1:]))
    yield "slow urgent pushes", False, apps_judge.complaints(alone, (alone[0], [0.05] * 90 + [2.0] * 10, *alone[2:]))
    yield "not accepted", False, apps_judge.complaints(alone, (*alone[:3], Record().falsified("count_wrong").answers))

    measured = apps_judge.Measured
    quiet = {"push": measured([0.05] * 100, []), "page": measured([0.2] * 100, [])}
    noise = apps_judge.DOOR_NOISE

    def door(name, *changed):
        return apps_judge.door_complaints("x", quiet, {**quiet, name: measured(*changed)})

    yield "doors as in quiet", True, door("push", [0.05] * 100, [])
    yield "door a little slower", True, door("page", [0.2] * 90 + [0.55 + noise] * 10, [])
    yield "door much slower", False, door("page", [0.2] * 90 + [0.65 + noise] * 10, [])
    yield "few, and one much slower", False, door("page", [0.2, 0.2, 0.65 + noise], [])
    yield "door refused once", False, door("push", [0.05] * 100, ["429 too_many_queries"])
    yield "door silent", False, door("push", [], [])
    yield from attacks()


def attacks():
    table = ("| Resource | Whole |\n|---|---|\n| `connections`: connections | 1000 at a time |\n"
             "| `queryAttempts`: milliseconds of first attempts at queries |  |\n")
    attack = collections.namedtuple("Attack", "resources")
    names = apps_judge.resource_names(table)
    yield "all attacked", True, apps_judge.without_attack(names, [attack(["connections", "queryAttempts"])])
    yield "one not attacked", False, apps_judge.without_attack(names, [attack(["connections"])])
    yield "attack on nothing", False, apps_judge.without_attack(names, [attack(["connections", "queryAttempts", "x"])])
    yield "no table", False, apps_judge.without_attack(apps_judge.resource_names("error"), [])
    with open("docs/security.md") as file:
        yield "the table of the documents", True, [] if len(apps_judge.resource_names(file.read())) > 30 else ["not read"]

    def reached(*lines):
        texts = [f'martlet_resource_{line}\n' for line in lines]
        before, during = apps_judge.amounts("", "good"), [apps_judge.amounts(text, "good") for text in texts]
        return apps_judge.not_reached("x", ["queries"], before, during)

    yield "held", True, reached('in_use{resource="queries",app="bad"} 1')
    yield "refused", True, reached('refused_total{app="bad",resource="queries",level="app"} 3')
    yield "held by the good app", False, reached('in_use{resource="queries",app="good"} 1')
    yield "nothing held", False, reached('in_use{resource="queries"} 0', 'in_use{resource="counts",app="bad"} 1')
    yield "memory", False, apps_judge.growth_complaints("x", {"memory": 900.0}, {"memory": 256})


def weeks():
    good = 202, {"id": "n"}
    for age, status, replay, is_true in ((1, 200, good, True), (1, 404, good, False), (6, 200, (202, {"id": "m"}), False),
                                         (6, 200, (409, {}), False), (9, 404, None, True), (9, 200, None, False)):
        complaint = weeks_judge.state_complaint("n", age, 7, status, replay)
        yield f"{age} days, {status} {replay}", is_true, [complaint] if complaint else []
    day = 86_400
    runs = {number * day * 1000: {f"n{number}"} for number in range(1, 6)}
    yield "daily runs", True, weeks_judge.run_complaints("s", runs, 0, 5.5 * day)
    for name, change in {"left out": {3 * day * 1000: None}, "twice": {2 * day * 1000: {"x", "y"}},
                         "after its end": {6 * day * 1000: {"z"}}}.items():
        falsified = {at: ids for at, ids in {**runs, **change}.items() if ids}
        yield name, False, weeks_judge.run_complaints("s", falsified, 0, 5.5 * day)


def bursts():
    pushes = Record().pushes
    yield "slow", True, clock_judge.bursts(pushes, 1, 1)
    yield "burst", False, clock_judge.bursts([push._replace(at=0) for push in pushes], 1, 1)


def stops():
    """A stop at 3.5 s of ten notifications of one recipient each, one after the other; each push is answered after 0.2 s."""
    record = Record()
    answers, ledger = record.answers, record.ledger
    pushes = [push._replace(answered=push.at + int(2e8)) for push in record.pushes]
    stop = stops_judge.Stop("pause", int(3.4e9), int(3.5e9), 2, None, [record.first], 4)

    def judged(*stops, looks=()):
        return stops_judge.complaints(stops, pushes, answers, ledger, looks=looks)

    yield "two under way", True, judged(stop)
    yield "one named", False, judged(stop._replace(under_way=1))
    yield "resumed", True, judged(stop._replace(under_way=0, until=int(3.6e9)))
    nothing = stop._replace(under_way=0)
    yield "resumed like all pauses", True, judged(*stops_judge.resumed([nothing], "pause", int(3.6e9)))
    yield "cancelled while others resume", False, judged(
        *stops_judge.resumed([nothing._replace(kind="cancel")], "pause", int(3.6e9)))
    again = [*pushes, pushes[4]._replace(at=int(4.1e9), status=503)]
    yield "one of them twice", False, stops_judge.complaints([stop], again, answers, ledger)
    yield "too many named", False, judged(stop._replace(under_way=7))
    yield "named when all was over", False, judged(stop._replace(asked=int(60e9), at=int(61e9), under_way=1))
    alone = stop._replace(under_way=0, tokens={record.people[5].token}, identities=None)
    yield "another's token", True, judged(alone._replace(tokens={record.people[0].token}, at=int(12e9)))
    yield "an erased token", False, judged(alone)
    for way in ("lose_push", "lose_state", "lose_delivery", "count_wrong", "double_push"):
        other = record.falsified(way)
        yield way, False, stops_judge.complaints([], other.pushes, other.answers, other.ledger)
    other = record.falsified("lose_delivery")
    yield "erased delivery", True, stops_judge.complaints(
        [], other.pushes, other.answers, other.ledger, {other.people[-1].token})
    paused = [{**answers[0], "state": "paused"}, *answers[1:]]
    yield "stands still", False, stops_judge.complaints([], pushes, paused, ledger)
    tokens = {push.token for push in pushes}
    identities, strange = [answer["id"] for answer in answers], pushes[0]._replace(token="ab" * 32)
    yield "known tokens", True, stops_judge.strangers(pushes, tokens, identities)
    yield "a random token", False, stops_judge.strangers([*pushes, strange], tokens, identities)
    test = strange._replace(apns_id="5b0c9b0e-5d86-4c3b-9d3c-0b1e6b5c1a11")
    yield "a test of a credential", True, stops_judge.strangers([*pushes, test], tokens, identities)

    def look(seconds, state, accepted, **more):
        counters = {"accepted": accepted, "retrying": more.pop("retrying", 0), "failed": more.pop("failed", 0)}
        return stops_judge.Look(int(seconds * 1e9), int((seconds + 0.1) * 1e9), record.first, state, 6, counters, **more)

    course = [look(0.3, "sending", 1), look(2.3, "sending", 3, retrying=1, listed=(2, 3)), look(3.6, "paused", 4),
              look(5.3, "paused", 6), look(6, "done", 6)]
    yield "looks", True, judged(stop, looks=course)
    for name, wrong in {
            "more than recipients": look(5.3, "paused", 5, retrying=2),
            "done and retrying": look(5.3, "done", 5, retrying=1),
            "done too early": look(5.3, "done", 5),
            "accepted before it came": look(2.3, "sending", 4),
            "listed and not counted": look(5.3, "paused", 5, listed=(4, 6)),
            "counted and not listed": look(5.3, "paused", 6, listed=(6, 5)),
            "fewer than before": look(4.5, "paused", 3),
            "sending while paused": look(4.5, "sending", 4)}.items():
        yield name, False, judged(stop, looks=[*course[:3], wrong])
    yield "not done any more", False, judged(looks=[look(6, "done", 6), look(7, "sending", 6)])
    yield "accepted beyond what was named", False, judged(stop._replace(accepted=3), looks=course)
    yield "resumed before it was looked at", True, judged(
        stop._replace(accepted=3, under_way=0, until=int(3.55e9)), looks=course[3:])
    yield "cancelled and done", False, judged(stop._replace(kind="cancel"), looks=course[4:])
