"""The part in which several nodes share a database, and nodes, database and the way between them fail."""

import collections
import os
import random
import statistics
import time

from basics import fail, figure, must, size
from database import Database
from nodes_events import Events
from nodes_judge import (Expected, Judgement, integrity_complaints, key_complaints, rest_complaints, run_complaints,
                         token_complaints, webhook_complaints)
from nodes_traffic import Everywhere, Registrations, Traffic, Watch
from provider import GROUPS, Provider
from proxy import SeparateProxies
from pushservice import Answer, PushService
from receiver import Receiver
from schedules import await_amid, minute
from shim import Clock

PAGE = 100
# Seconds for everything to end.
PATIENCE = 300

RESTS = {
    "shards": "SELECT count(*) FROM shard",
    "retries": "SELECT count(*) FROM retry",
    "leases": "SELECT count(*) FROM lease",
    "begun rows": "SELECT count(*) FROM begun",
    "begun deliveries": "SELECT count(*) FROM delivery WHERE state = 0",
    "notifications without an end": "SELECT count(*) FROM notification WHERE finishedAt IS NULL",
}
INTEGRITY = {
    "deliveries without their notification":
        "SELECT count(*) FROM delivery WHERE notification NOT IN (SELECT number FROM notification)",
    "notifications whose counters are not their deliveries":
        "SELECT count(*) FROM notification WHERE accepted + rejected + failed + skipped + unknown !="
        " (SELECT count(*) FROM delivery WHERE notification = notification.number)",
    "tokens of two devices":
        "SELECT count(*) FROM (SELECT 1 FROM device GROUP BY app, token, environment HAVING count(*) > 1) AS twice",
    "blocks of events with the same position":
        "SELECT count(*) FROM (SELECT 1 FROM eventBlock WHERE position IS NOT NULL GROUP BY app, position"
        " HAVING count(*) > 1) AS twice",
    "duties of no node": "SELECT count(*) FROM duty WHERE node NOT IN (SELECT id FROM node)",
}


class Node(Provider):
    """One of the nodes; each start has a log of its own."""

    def __init__(self, options, name, service, clock, first=None):
        self.name, self.clock, self.starts, self.ways = name, clock, 0, [name, f"{name}-b"]
        # The second is the way to a standby, if there is one.
        ways = ",".join(f"{options.work}/way-{way}" for way in self.ways)
        way = f"host={ways} user=martlet dbname=martlet sslmode=disable"
        arguments = ["--database", way, "--node", name, "--files-directory", f"{options.work}/files", "--page", str(PAGE)]
        if first:
            arguments += ["--master-key", f"{first.folder}/master.key"]
        super().__init__(options, f"{options.work}/{name}", service, arguments, clock.variables)
        # The push service tells the nodes apart by their ports.
        port = service.run(service.open(name))
        self.ports = {"sandbox": port, "production": port}

    def must(self, method, path, body=None):
        """Again and again while it cannot use the database."""
        end = time.monotonic() + 60
        while True:
            answer = self.call(method, path, body)
            if answer[0] not in (None, 503) or time.monotonic() > end:
                return must(answer, f"{method} {path} at {self.name}")
            time.sleep(0.2)

    def launch(self):
        self.starts += 1
        self.log_path = f"{self.options.work}/{self.name}-{self.starts}.log"
        super().launch()


class World:
    def __init__(self, options, rng):
        self.options, self.rng = options, rng
        self.answers, self.seen = random.Random(rng.random()), set()
        names = [f"n{number + 1}" for number in range(max(2, options.nodes))]
        self.database = Database(options.postgres, f"{options.work}/postgres.log")
        ways = {}
        for name in names:
            os.makedirs(f"{options.work}/clock-{name}")
            for way, folder in ((name, options.postgres), (f"{name}-b", f"{options.postgres}-b")):
                os.makedirs(f"{options.work}/way-{way}")
                ways[way] = f"{folder}/.s.PGSQL.5432", f"{options.work}/way-{way}/.s.PGSQL.5432"
        self.proxies = SeparateProxies(ways)
        self.service = PushService(options.work, self.judge)
        self.nodes = []
        for name in names:
            clock = Clock(f"{options.work}/clock-{name}")
            self.nodes.append(Node(options, name, self.service, clock, self.nodes[0] if self.nodes else None))
        self.anywhere = Everywhere(self.nodes, random.Random(rng.random()))
        self.apps = [f"com.example.nodes{number + 1}" for number in range(size("NODES_APPS", 3))]
        self.tokens, self.receivers, self.schedules = {}, {}, {}

    def judge(self, node, token, topic, apns_id):
        """Accepts, some after a while; asks now and then for another try."""
        if apns_id not in self.seen:
            self.seen.add(apns_id)
            if self.answers.random() < 0.01:
                return Answer(503, "ServiceUnavailable", 0.005)
        return Answer(200, None, self.answers.random() * 0.06 if self.answers.random() < 0.5 else 0.002)

    def set_up(self):
        first, devices = self.nodes[0], size("NODES_DEVICES", 1000)
        first.start()
        for node in self.nodes[1:]:
            node.key = first.key
            node.start()
        for number, app in enumerate(self.apps):
            first.add_app(app)
            count = devices if number == 0 else max(20, devices // 4)
            tokens = self.tokens[app] = [f"{self.rng.getrandbits(256):064x}" for _ in range(count)]
            self.rng.choice(self.nodes).register(app, [
                {"token": token, "environment": "sandbox", "user": f"user-{token}", "tags": [f"group{place % GROUPS}"]}
                for place, token in enumerate(tokens)])
            self.receivers[app] = Receiver(random.Random(self.rng.random()))
            self.receivers[app].add_to(self.rng.choice(self.nodes), app)
        await_amid()
        self.begin = minute()
        for number, app in enumerate(self.apps):
            answer = self.rng.choice(self.nodes).must("POST", f"/v1/apps/{app}/schedules", {
                "name": "each minute", "schedule": {"cron": "* * * * *", "timeZone": "UTC", "missedRuns": "runAll", "maximumRuns": 20},
                "notification": {"to": {"tag": f"group{number}"}, "environment": "sandbox", "alert": "a run"}})
            self.schedules[answer["id"].upper()] = app, set(self.tokens[app][number::GROUPS])

    # The end.

    def end(self, traffic):
        """Seconds until everything has ended and been told."""
        begin = time.monotonic()
        await_amid()
        for app in self.apps:
            self.await_schedules(app)
        for identity in self.schedules:
            self.nodes[0].must("POST", f"/v1/schedules/{identity}:pause")
        self.last = minute()
        for worker in traffic:
            worker.finish(PATIENCE)
        self.await_none("SELECT id || ' ' || state || ' ' || coalesce(pauseReason, '') FROM notification"
                        " WHERE finishedAt IS NULL ORDER BY number", "notifications do not end")
        for app, receiver in self.receivers.items():
            receiver.is_kind = True
            self.await_none(
                "SELECT eventBlock.id FROM eventBlock JOIN webhook ON webhook.app = eventBlock.app"
                " JOIN app ON app.id = webhook.app"
                f" WHERE app.bundleID = '{app}' AND (position IS NULL OR position > cursor)",
                f"blocks of events are not told to the webhook of {app}")
        return time.monotonic() - begin

    def await_schedules(self, app):
        end = time.monotonic() + 60
        while True:
            answer = self.nodes[0].must("GET", f"/v1/apps/{app}/schedules")
            if all(schedule["nextRunAtMs"] > time.time() * 1000 for schedule in answer["schedules"]):
                return
            if time.monotonic() > end:
                fail(f"stuck: schedules of {app} are due and do not run")
            time.sleep(0.2)

    def await_none(self, sql, what):
        end = time.monotonic() + PATIENCE
        while rows := self.database.rows(sql):
            if time.monotonic() > end:
                fail(f"stuck: {len(rows)} {what}, such as {rows[0]}:\n{self.explain(rows[0][0].split()[0])}")
            time.sleep(0.5)

    def explain(self, identity):
        """What the database says of a notification that stands still."""
        where = f"notification = (SELECT number FROM notification WHERE id = '{identity}')"
        lines = [f"{table}: {self.database.rows(f'SELECT * FROM {table} WHERE {where} LIMIT 3')}" for table in ("shard", "retry", "begun")]
        return "\n".join([*lines, f"leases: {self.database.rows('SELECT * FROM lease')}", f"nodes: {self.database.rows('SELECT * FROM node')}"])

    def counts(self, questions):
        return {what: self.database.number(sql) for what, sql in questions.items()}

    def await_rest(self):
        """What is left at rest: a lease is given back after some seconds without work."""
        end = time.monotonic() + 30
        while any((counts := self.counts(RESTS)).values()) and time.monotonic() < end:
            time.sleep(0.5)
        return counts

    def ledger(self):
        ledger = collections.defaultdict(dict)
        for identity, recipient, state in self.database.rows(
                "SELECT notification.id, recipient, delivery.state FROM delivery"
                " JOIN notification ON notification.number = delivery.notification"):
            ledger[identity.upper()][int(recipient)] = int(state)
        return ledger


def nodes(options, rng):
    world = World(options, rng)
    world.set_up()
    watch = Watch(world)
    traffic = [Traffic(world, watch, random.Random(rng.random()), number) for number in range(3)]
    registrations = Registrations(world, random.Random(rng.random()))
    events = Events(world, watch, rng)
    with watch:
        with registrations, traffic[0], traffic[1], traffic[2]:
            events.run(size("EVENTS", 20))
            if size("PROMOTE", 1):
                events.promote()
        seconds = world.end(traffic)
    rest, ledger = world.await_rest(), world.ledger()
    prove(world, traffic, registrations, events, rest, ledger, seconds)


def expectations(world, traffic):
    expected, runs = {}, collections.defaultdict(list)
    for worker in traffic:
        for note in worker.notes:
            expected[note.identity.upper()] = Expected(
                note.tokens, note.guarantee, note.is_cut, note.body.get("pace", {}).get("rate"))
    for identity, schedule, at in world.database.rows(
            "SELECT id, schedule, runAt / 60000 FROM notification WHERE schedule IS NOT NULL"):
        expected[identity.upper()] = Expected(world.schedules[schedule.upper()][1])
        runs[schedule.upper()].append(int(at))
    return expected, runs


def prove(world, traffic, registrations, events, rest, ledger, seconds):
    expected, runs = expectations(world, traffic)
    answers = []
    for (identity,) in world.database.rows("SELECT id FROM notification"):
        answer = world.rng.choice(world.nodes).must("GET", f"/v1/notifications/{identity}")
        answers.append({**answer, "id": answer["id"].upper()})
    owners = {identity.upper(): app for identity, app in world.database.rows(
        "SELECT notification.id, app.bundleID FROM notification JOIN app ON app.id = notification.app")}
    broken = world.counts(INTEGRITY)
    stored = {token for (token,) in world.database.rows("SELECT encode(token, 'hex') FROM device")}
    for node in world.nodes:
        node.stop()
    world.database.crash()
    pushes = list(world.service.received)
    judgement = Judgement(expected, answers, ledger, pushes, events.troubles, PAGE)
    found = judgement.complaints
    for app, receiver in world.receivers.items():
        own = {identity: states for identity, states in ledger.items() if owners.get(identity) == app}
        found += webhook_complaints(set(receiver.events), own, receiver.faults)
    promised = {schedule: set(range(world.begin + 1, world.last + 1)) for schedule in world.schedules}
    found += run_complaints(runs, promised)
    found += token_complaints(pushes)
    found += key_complaints(events.refusals)
    found += rest_complaints(rest)
    found += integrity_complaints(broken)
    found += events.complaints(pushes)
    lost = [token for token in registrations.confirmed if token not in stored]
    if lost:
        found.append(("lost", f"{len(lost)} registrations were answered and are not stored"))
    tell(world, traffic, registrations, events, judgement, pushes, runs, seconds)
    if found:
        fail("\n".join(f"{kind}: {text}" for kind, text in found[:40]))


def tell(world, traffic, registrations, events, judgement, pushes, runs, seconds):
    kinds = collections.Counter(kind for kind, _ in judgement.complaints)
    by_kind = collections.Counter()
    for trouble, count in judgement.again.items():
        by_kind[trouble.kind] += count
        print(f"torture: nodes: {count} sent again for {trouble.kind} of {trouble.node or 'all'}, such as {judgement.examples[trouble]}")
    statuses = collections.Counter()
    for worker in [*traffic, registrations]:
        statuses.update(worker.statuses)
    posts = sum(sum(receiver.posts.values()) for receiver in world.receivers.values())
    figure("nodes_events", len(events.happened), f"events: {dict(collections.Counter(events.happened))}")
    figure("nodes_notifications", sum(len(worker.notes) for worker in traffic), f"notifications accepted; answers {dict(statuses)}")
    figure("nodes_pushes", len(pushes), f"pushes, by nodes {dict(collections.Counter(push.environment for push in pushes))}")
    figure("nodes_runs", sum(map(len, runs.values())), "runs of schedules")
    figure("nodes_registrations", len(registrations.confirmed), "registrations answered")
    figure("nodes_told", sum(len(receiver.events) for receiver in world.receivers.values()),
           f"events told to webhooks in {posts} posts, {sum(receiver.again for receiver in world.receivers.values())} told again")
    figure("nodes_sent_again", sum(by_kind.values()), f"pushes, in flight in a trouble of their node: {dict(by_kind)}")
    figure("nodes_interrupted", judgement.interrupted, "of at-most-once, ended as unknown")
    for name, values, unit in events.figures(pushes):
        if values:
            figure(f"{name}_p50", statistics.median(values), unit)
            figure(f"{name}_max", max(values), unit)
    figure("nodes_rest", seconds, "s until all had ended and been told")
    for kind in ("lost", "doubled", "stuck"):
        figure(f"nodes_{kind}", kinds[kind], "must be 0")
