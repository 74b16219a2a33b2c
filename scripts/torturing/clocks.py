"""The part in which the wall clock is wrong, steps, or the process stands still: it costs delay at most."""

import signal
import time
import uuid

from basics import APP, fail, figure, size
from clock_judge import bursts, complaints
from provider import Provider
from pushservice import Answer, PushService
from shim import Clock, make_certificate

HOUR, DAY = 3600, 86_400
# Seconds of a paced campaign, and how much later than that it may end on a busy machine.
LENGTH, PATIENCE = 4, 20
BUSY = Answer(503, "ServiceUnavailable", 0.002)


class World:
    def __init__(self, options, rng):
        self.options, self.rng, self.clock = options, rng, Clock(options.work)
        make_certificate(options.work, self.clock)
        self.service, self.busy = PushService(options.work, self.judge), 0
        self.provider = Provider(options, f"{options.work}/time", self.service, ["--page", "20"], self.clock.variables)
        self.tokens = [f"{rng.getrandbits(256):064x}" for _ in range(size("TIME_DEVICES", 200))]
        # By id: idempotency key and body.
        self.requests, self.longest = {}, 0

    def judge(self, *_):
        """Accepts, or asks for another try of the next so many."""
        if self.busy > 0:
            self.busy -= 1
            return BUSY
        return Answer(200, None, 0.01)

    def send(self, **members):
        key, body = str(uuid.UUID(int=self.rng.getrandbits(128))), {"to": {"all": True}, "alert": "time", **members}
        identity = self.provider.send(APP, body, key)
        self.requests[identity] = key, body
        return identity

    def await_end(self, identities, what, seconds=LENGTH + PATIENCE):
        begin = time.monotonic()
        try:
            self.provider.await_end(identities, seconds)
        finally:
            self.longest = max(self.longest, time.monotonic() - begin)
            print(f"{what}: {time.monotonic() - begin:.1f} s", flush=True)

    def prove(self, what):
        """All of it is there, once, and the same requests are the same notifications."""
        answers = [self.provider.must("GET", f"/v1/notifications/{identity}") for identity in self.requests]
        ledger = {identity: self.provider.deliveries(identity) for identity in self.requests}
        replays = {identity: self.provider.call(
            "POST", f"/v1/apps/{APP}/notifications", body, {"idempotency-key": key})
            for identity, (key, body) in self.requests.items()}
        found = complaints(answers, ledger, self.service.received, len(self.tokens), replays)
        if found:
            fail("\n".join([f"{what}:", *found[:10]]))


def clocks(options, rng):
    world = World(options, rng)
    world.provider.start()
    world.provider.add_app(APP)
    world.provider.register(APP, [{"token": token, "environment": "sandbox"} for token in world.tokens])
    world.await_end([world.send(), world.send(guarantee="atMostOnce")], "undisturbed")
    faults = []
    for trial in (steps_amid, retries_amid, new_after_step, stopped, wrong_at_boot):
        try:
            trial(world)
            world.prove(trial.__name__)
        except Exception as fault:  # Every trial is made; the first fault is told with the others.
            faults.append(f"{trial.__name__}: {fault}")
            world.clock.step_to(0)
            cancel_rest(world)
    world.provider.stop()
    figure("time_notifications", len(world.requests), "notifications under wrong clocks")
    figure("time_faults", len(faults), "trials in which something was lost, doubled, forgotten or stood still; must be 0")
    figure("time_longest", world.longest, f"s until one of {LENGTH} s had ended")
    if faults:
        fail("\n".join(faults))


def cancel_rest(world):
    for identity in list(world.requests):
        if world.provider.call("POST", f"/v1/notifications/{identity}:cancel")[0] == 200:
            del world.requests[identity]


def pace(world):
    return {"rate": max(1, len(world.tokens) // LENGTH)}


def steps_amid(world):
    """The clock steps to and fro while paced campaigns go on, and in the end it is right again."""
    for offset in (-HOUR, HOUR, -40 * DAY, 2 * DAY):
        begin = len(world.service.received)
        identities = [world.send(pace=pace(world)), world.send(pace=pace(world), guarantee="atMostOnce")]
        time.sleep(1)
        world.clock.step_to(offset)
        world.await_end(identities, f"a clock that steps by {offset} s amid campaigns")
        found = bursts(world.service.received[begin:], pace(world)["rate"] * len(identities), 20 * len(identities))
        world.clock.step_to(0)
        if found:
            fail(found)


def retries_amid(world):
    """Some wait for another try while the clock steps back."""
    world.busy = len(world.tokens) // 4
    identity = world.send()
    time.sleep(0.7)
    world.clock.step_to(-HOUR)
    world.await_end([identity], "retries after a clock has stepped back", 40)
    world.clock.step_to(0)


def new_after_step(world):
    """What is accepted just before and after a step, and what has its moment after it."""
    identities = [world.send()]
    world.clock.step_to(-HOUR)
    identities.append(world.send())
    identities.append(world.send(when={"at": int((world.clock.now + 1.5) * 1000)}))
    world.await_end(identities, "accepted around a step back")
    world.clock.step_to(0)
    world.await_end([world.send()], "accepted after the clock is right again")


def stopped(world):
    """The process stands still, and when it goes on, leases have ended by every clock, then by the wall clock only."""
    for act in (world.clock.let_pass, world.clock.step_to):
        identities = [world.send(pace=pace(world)), world.send(), world.send(guarantee="atMostOnce")]
        time.sleep(0.05)
        world.provider.process.send_signal(signal.SIGSTOP)
        time.sleep(size("STOP_SECONDS", 1))
        act(HOUR)
        world.provider.process.send_signal(signal.SIGCONT)
        world.await_end(identities, f"a process that stood still for an hour, {act.__name__}")
        world.clock.step_to(0)


def wrong_at_boot(world):
    """It starts forty days ahead, forty days behind, and the clock is put right after some seconds."""
    for offset in (40 * DAY, -40 * DAY):
        world.provider.stop()
        world.clock.step_to(offset)
        world.provider.start()
        time.sleep(3)
        identities = [world.send()]
        world.clock.step_to(0)
        identities.append(world.send())
        world.await_end(identities, f"a clock {offset // DAY} days wrong at boot")
        world.prove(f"wrong at boot by {offset // DAY} days")
