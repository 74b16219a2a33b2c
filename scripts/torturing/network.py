"""The part with a bad network between provider and push service, while the provider, or the gateway, is killed as well."""

import collections
import random
import time
from types import SimpleNamespace

from basics import APP, fail, figure, size
from gatewayprocess import GatewayProcess
from network_judge import complaints
from provider import Provider
from proxy import Proxy
from pushservice import Answer, PushService
from shim import Clock

PAGE, DEVICES = 50, 300
TROUBLES = ["partition", "black hole", "long black hole", "half-close", "goaway", "cut", "black hole and cut"]
# Longer than any deadline for an answer.
LONG = 100


class World:
    """A provider behind a proxy, and what happened when."""

    def __init__(self, options, rng, folder, port, authority):
        self.rng, self.proxy = rng, Proxy(port)
        way = SimpleNamespace(ports=dict.fromkeys(("sandbox", "production"), self.proxy.port), authority=authority)
        self.clock = Clock(options.work)
        self.provider = Provider(options, f"{options.work}/{folder}", way, ["--page", str(PAGE)], self.clock.variables)
        self.provider.start()
        self.provider.add_app(APP)
        # Notifications by id; nanoseconds in which something was wrong; how often what happened.
        self.identities, self.troubles, self.counts = [], [], collections.Counter()

    def send(self, tokens):
        bodies = [{"to": {"all": True}}, {"to": {"all": True}, "guarantee": "atMostOnce"},
                  {"to": {"all": True}, "pace": {"rate": 300}}, {"to": {"tokens": self.rng.sample(tokens, 5)}}]
        body = {**self.rng.choice(bodies), "environment": "sandbox", "alert": "network"}
        self.identities.append(self.provider.send(APP, body))

    def trouble(self, kind, service):
        begin = time.monotonic_ns()
        if kind == "goaway":
            service.go_away()
        else:
            {"partition": self.proxy.partition, "black hole": self.proxy.black_hole, "cut": self.proxy.cut,
             "black hole and cut": self.proxy.black_hole, "long black hole": self.proxy.black_hole,
             "half-close": self.proxy.half_close}[kind]()
        time.sleep(self.rng.uniform(0.1, 0.8))
        if kind == "long black hole":
            self.clock.let_pass(LONG)
            time.sleep(0.5)
        if self.rng.random() < 0.35:
            self.provider.kill()
            self.provider.start()
            self.counts["provider killed"] += 1
        if kind == "black hole and cut":
            self.proxy.cut()
        self.proxy.heal()
        self.troubles.append((begin, time.monotonic_ns()))
        self.counts[kind] += 1


def network(options, rng):
    with_service(options, rng)
    if options.load:
        with_gateway(options, rng)


def with_service(options, rng):
    delays = random.Random(rng.random())
    service = PushService(options.work, lambda *_: Answer(200, None, 0.02 * delays.random()))
    world = World(options, rng, "network", service.ports["sandbox"], service.authority)
    tokens = [f"{rng.getrandbits(256):064x}" for _ in range(DEVICES)]
    world.provider.register(APP, [{"token": token, "environment": "sandbox"} for token in tokens])
    for number in range(size("NETWORK_TROUBLES", 14)):
        for _ in range(3):
            world.send(tokens)
        time.sleep(rng.uniform(0.05, 0.4))
        world.trouble(TROUBLES[number % len(TROUBLES)], service)
    begin = time.monotonic()
    answers = world.provider.await_end(world.identities, 90)
    rest = time.monotonic() - begin
    world.provider.wait_until_done(60)
    ledger = {identity: world.provider.deliveries(identity) for identity in world.identities}
    world.provider.stop()
    received = [push for push in service.received if push.status == 200]
    found = complaints(answers, ledger, received, world.troubles)
    again = len(received) - len({push.apns_id for push in received})
    figure("network_troubles", len(world.troubles), f"{dict(world.counts)}")
    figure("network_received", len(received), f"pushes for {len(answers)} notifications, {again} came again")
    figure("network_rest", rest, "s until all had ended after the last trouble")
    figure("network_faults", len(found), "pushes lost, doubled without reason, or stuck; must be 0")
    if found:
        fail("\n".join(found[:20]))


def with_gateway(options, rng):
    """The gateway is killed again and again, and comes back on the same data at another port."""
    gateway = GatewayProcess(options)
    gateway.start()
    tokens = gateway.activate(size("GATEWAY_DEVICES", 60))
    world = World(options, rng, "network-gateway", gateway.http2_port, gateway.authority)
    world.provider.register(APP, [{"token": token, "environment": "sandbox"} for token in tokens])
    kills = size("GATEWAY_KILLS", 5)
    for _ in range(kills):
        for _ in range(3):
            world.send(tokens)
        time.sleep(rng.uniform(0.02, 0.4))
        gateway.kill()
        if rng.random() < 0.4:
            world.provider.kill()
            world.provider.start()
        gateway.start()
        world.proxy.target = gateway.http2_port
    answers = world.provider.await_end(world.identities, 90)
    ledger = {identity: world.provider.deliveries(identity) for identity in world.identities}
    stored = gateway.stored()
    world.provider.stop()
    gateway.kill()
    found = complaints(answers, ledger, None, world.troubles)
    # All devices are offline: of each the newest notification is kept, whatever was killed meanwhile.
    if stored != len(tokens):
        found.append(f"the gateway keeps {stored} notifications for {len(tokens)} devices")
    figure("network_gateway_kills", kills, f"kills of the gateway amid {len(answers)} notifications, none lost or stuck")
    if found:
        fail("\n".join(found[:20]))
