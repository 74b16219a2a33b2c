"""What happens to nodes, to their database and to the ways between them."""

import signal
import time

from apns_id import prefix_of, recipient_of
from basics import call, fail
from nodes_judge import Trouble

WAYS = {"kill": 4, "stall": 3, "cut": 2, "hole": 2, "delay": 2, "crash": 2, "terminate": 2, "clock": 2, "term": 3}
# Seconds for which something lasts at most; for which leases of a dead node may live; after which they count as stuck.
LONGEST, TAKEN_OVER, STUCK = 30, 25, 60
# Seconds in which a node that is asked to end gives everything back.
GIVEN_BACK = 2


class Events:
    def __init__(self, world, watch, rng):
        self.world, self.watch, self.rng, self.database = world, watch, rng, world.database
        self.happened, self.troubles, self.refusals, self.faults = [], [], [], []
        # Of each kill: its moment, the seconds until its leases were free, and what was in flight then.
        self.kills, self.exits, self.returns, self.restarts = [], [], [], []

    def run(self, count):
        time.sleep(3)
        while len(self.happened) < count:
            kind = self.rng.choices(list(WAYS), WAYS.values())[0]
            node = self.rng.choice(self.world.nodes)
            begin = time.monotonic()
            getattr(self, kind)(node)
            self.happened.append(kind)
            print(f"torture: nodes: {len(self.happened)} of {count}: {kind} {node.name} until"
                  f" {time.strftime('%H:%M:%S', time.gmtime())}, {time.monotonic() - begin:.1f} s,"
                  f" {len(self.world.service.received)} pushes, {self.watch.under_way} under way", flush=True)
            for worker in self.world.nodes:
                if worker.process.poll() is not None:
                    fail(f"{worker.name} has ended by itself with {worker.process.returncode}:\n{worker.text()[-2000:]}")
            time.sleep(self.rng.uniform(1, 4))
            if self.rng.random() < 0.3:
                self.try_key()

    def trouble(self, node, begin):
        """A trouble of a node, or with None of all, that began then and ends now."""
        self.troubles.append(Trouble(self.kind, node.name if node else None, begin, time.monotonic_ns()))

    def last(self, kind):
        self.kind = kind
        return time.monotonic_ns(), self.rng.uniform(1, LONGEST)

    def number_of(self, node):
        """Its number among the nodes: the latest of its name."""
        return self.database.number(f"SELECT max(id) FROM node WHERE name = '{node.name}'")

    def leases(self, number):
        return self.database.number(f"SELECT count(*) FROM lease WHERE owner = {number}")

    def await_work(self, number):
        """Some work at the node, if it gets any."""
        end = time.monotonic() + 4
        while not self.leases(number) and time.monotonic() < end:
            time.sleep(0.05)

    def shards(self, number):
        """What it has to send."""
        return [(prefix_of(identity), int(cursor), int(end)) for identity, cursor, end in self.database.rows(
            "SELECT notification.id, shard.cursor, shard.upTo FROM shard JOIN lease ON lease.fence = shard.lease"
            f" JOIN notification ON notification.number = shard.notification WHERE lease.owner = {number} AND isDone = 0"
            " AND state IN ('accepted', 'sending')")]

    def await_leases(self, number, begin, seconds):
        """Seconds until a node that has ended has no leases; None if that takes too long."""
        while self.leases(number):
            if time.monotonic() - begin > seconds:
                return None
            time.sleep(0.05)
        return time.monotonic() - begin

    def tell(self, node, *act):
        for way in node.ways:
            self.world.proxies.tell(way, *act)

    # The events.

    def kill(self, node):
        number = self.number_of(node)
        self.await_work(number)
        start, _ = self.last("kill")
        node.kill()
        begin = time.monotonic()
        self.trouble(node, start)
        shards, had = self.shards(number), self.leases(number)
        # It comes back at once, or while the others take over, or after that.
        pause = self.rng.choice([0, self.rng.uniform(0, 15), LONGEST])
        free = self.await_leases(number, begin, pause) if pause else None
        if free is None:
            self.restarts.append(node.start())
            free = self.await_leases(number, begin, STUCK)
        else:
            self.restarts.append(node.start())
        if free is None:
            self.faults.append(("stuck", f"the leases of {node.name}, node {number}, outlive it by {STUCK} s"))
        elif had:
            self.kills.append((begin, free, shards, node.name))

    def stall(self, node):
        start, seconds = self.last("stall")
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        node.process.send_signal(signal.SIGCONT)
        self.trouble(node, start)

    def cut(self, node):
        """The way to the database breaks, and no other can be made."""
        start, seconds = self.last("cut")
        self.tell(node, "partition")
        time.sleep(seconds)
        self.tell(node, "heal")
        self.trouble(node, start)

    def hole(self, node):
        """Nothing comes through on the way to the database, until all comes through late."""
        start, seconds = self.last("hole")
        self.tell(node, "black_hole")
        time.sleep(seconds)
        self.tell(node, "heal")
        self.trouble(node, start)

    def delay(self, node):
        start, seconds = self.last("delay")
        self.tell(node, "slow_down", self.rng.uniform(0.01, 0.2))
        time.sleep(seconds / 2)
        self.tell(node, "slow_down", 0)
        self.trouble(node, start)

    def crash(self, _):
        start, _ = self.last("crash")
        self.database.crash()
        time.sleep(self.rng.uniform(0, 4))
        self.database.start()
        self.trouble(None, start)

    def terminate(self, _):
        start, _ = self.last("terminate")
        for _ in range(self.rng.randint(1, 3)):
            self.database.end_connections()
            time.sleep(self.rng.uniform(0, 1))
        self.trouble(None, start)

    def clock(self, node):
        """Its wall clock is wrong from now on. That excuses nothing."""
        node.clock.step_to(self.rng.uniform(-10, 10))

    def term(self, node):
        """It ends in order, and comes back. That excuses nothing."""
        number = self.number_of(node)
        self.await_work(number)
        begin = time.monotonic()
        node.process.terminate()
        exit = None
        while (left := self.leases(number)) or exit is None:
            if exit is None and node.process.poll() is not None:
                exit = time.monotonic() - begin
            if time.monotonic() - begin > STUCK:
                fail(f"stuck: {node.name} was asked to end, status {node.process.poll()}, {left} leases:\n{node.text()[-2000:]}")
            if left or exit is None:
                time.sleep(0.03)
        self.returns.append(time.monotonic() - begin)
        self.exits.append(exit)
        if node.process.returncode != 0:
            self.faults.append(("stuck", f"{node.name} was asked to end and ends with {node.process.returncode}: {node.text()[-500:]}"))
        self.restarts.append(node.start())

    def promote(self):
        """The database is lost, and a standby takes its place. Nothing that was answered may be missing there."""
        standby = self.database.make_standby()
        time.sleep(self.rng.uniform(1, 4))
        start, _ = self.last("promote")
        self.database.crash()
        # The first of two servers has to refuse connections: of one that accepts and closes them, libpq does not go on to the second.
        for node in self.world.nodes:
            self.world.proxies.tell(node.name, "close")
        time.sleep(self.rng.uniform(0, 2))
        standby.promote()
        self.world.database = self.database = standby
        self.trouble(None, start)
        self.happened.append("promote")
        time.sleep(self.rng.uniform(4, 8))

    def try_key(self):
        """A key that is removed at one node is refused at the others."""
        at, *others = self.rng.sample(self.world.nodes, len(self.world.nodes))
        key = at.must("POST", "/v1/keys", {"name": "for a moment", "scopes": ["read"]})

        def await_status(node, wanted):
            begin = time.monotonic()
            while time.monotonic() - begin < 10:
                if call(node.port, "GET", "/v1/key", None, {"authorization": f"Bearer {key['key']}"})[0] == wanted:
                    return time.monotonic() - begin
                time.sleep(0.05)
            return None
        for node in others:
            if await_status(node, 200) is None:
                self.faults.append(("stuck", f"a new key is not known at {node.name}"))
        begin = time.monotonic()
        at.must("DELETE", f"/v1/keys/{key['id']}")
        for node in others:
            refused = await_status(node, 401)
            self.refusals.append((node.name, None if refused is None else time.monotonic() - begin))

    # What they have shown.

    def resumed(self, pushes):
        """Of each kill, the seconds until somebody sent on what was in flight; only of those of which anybody did."""
        found = []
        for begin, _, shards, name in self.kills:
            moments = [push.at / 1e9 - begin for push in pushes
                       if push.at / 1e9 > begin + 0.5 and any(
                           prefix_of(push.apns_id) == prefix and cursor < abs(recipient_of(push.apns_id)) <= end
                           for prefix, cursor, end in shards)]
            if moments:
                found.append(min(moments))
        return found

    def figures(self, pushes):
        yield "nodes_resumed_after_kill_s", self.resumed(pushes), f"s until what a killed node had went on, wanted {TAKEN_OVER}"
        yield "nodes_leases_free_s", [free for _, free, *_ in self.kills], "s until a killed node had no leases"
        yield "nodes_sigterm_s", self.exits, f"s until a node that was asked to end had ended, wanted {GIVEN_BACK}"
        yield "nodes_given_back_s", self.returns, f"s until it had also no leases, wanted {GIVEN_BACK}"
        yield "nodes_restart_s", self.restarts, "s until a node was open again"
        yield "nodes_key_refused_s", [seconds for _, seconds in self.refusals if seconds is not None], "s until a removed key was refused, wanted 2"

    def complaints(self, pushes):
        late = [seconds for seconds in self.resumed(pushes) if seconds > STUCK]
        return self.faults + [("stuck", f"what a killed node had went on after {seconds:.1f} s") for seconds in late]
