"""The part with many apps: one, or a stranger, does its worst to each resource in turn, and another app must not notice.

First five apps side by side (apps_silent), then each attack (apps_attacks) beside all that a good app's callers do (apps_doors)."""

import collections
import multiprocessing
import os
import resource
import subprocess
import threading
import time

from apps_attacks import ATTACKS
from apps_client import Refused
from apps_doors import Good
from apps_hostile import APP as HOSTILE
from apps_hostile import FORM_KEY, HELD, Hostile
from apps_judge import Measured, door_complaints, p99, resource_names, slower, without_attack
from apps_silent import silent
from basics import fail, figure, size
from provider import Provider
from pushservice import Answer, PushService

# Of each measurement; for an attack to be at its full strength.
SECONDS, RISE = size("APP_SECONDS", 5), 1
# For what an attack has left behind, at most.
SETTLING = 60
# The greatest number of complaints that are printed.
PRINTED = 40


def apps(options, rng):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    chosen = [name for name in os.environ.get("APP_ATTACKS", "").split(",") if name]
    found = [] if chosen else silent(options, rng) + without_attack(resources(options.martlet), ATTACKS)
    found += attacked(options, rng, [attack for attack in ATTACKS if not chosen or attack.name in chosen])
    if found:
        fail("\n".join(found[:PRINTED]))


def resources(martlet):
    """The resources that the program lists."""
    done = subprocess.run([martlet, "help", "resources"], capture_output=True, text=True, check=False)
    return resource_names(done.stdout) if done.returncode == 0 else []


def attacked(options, rng, attacks):
    """Complaints about what a good app notices of each attack."""
    arguments = ["--door", f"{HOSTILE}={FORM_KEY}"]
    service = PushService(options.work)
    provider = Provider(options, f"{options.work}/doors", service, arguments)
    provider.start()
    try:
        good, hostile = Good(provider, rng), Hostile(provider, rng)
    except Refused as refused:
        fail(f"the apps cannot be set up: {refused}")

    def judge(_, token, topic, __):
        good.arrivals.note(token)
        return Answer(200, None, 0.001)

    service.judge = judge
    measure(good, 1)
    quiet = measure(good, 2 * SECONDS)
    found = door_complaints("in quiet", quiet, quiet)
    for name, measured in quiet.items():
        figure(f"apps_quiet_{name}", p99(measured.seconds) * 1000, f"ms, p99 of {len(measured.seconds)}")
    for attack in attacks:
        beside, blows = beside_attack(good, hostile, attack)
        door, times = slower(quiet, beside)
        struck = ", ".join(f"{number} x {status or 'no answer'}" for status, number in blows.most_common())
        figure(f"apps_{attack.name}", times, f"times slower at most ({door}), beside blows that were answered {struck}")
        found += door_complaints(attack.name, quiet, beside)
        if provider.process.poll() is not None:
            return [*found, f"{attack.name}: the provider has ended"]
    provider.kill()
    return found


def measure(good, seconds):
    """What callers of each door meet, all at the same time."""
    end, results = time.monotonic() + seconds, {}

    def go(name, action, pause):
        while time.monotonic() < end:
            try:
                results[name].seconds.append(action())
            except (Refused, OSError, ValueError, KeyError) as error:
                results[name].refusals.append(str(error))
            time.sleep(pause)

    threads = []
    for name, (action, pause) in good.doors().items():
        results[name] = Measured([], [])
        threads.append(threading.Thread(target=go, args=(name, action, pause)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def beside_attack(good, hostile, attack):
    """What the doors are like beside an attack, and the blows by their status."""
    context = multiprocessing.get_context("fork")
    ends, (reader, writer) = context.Event(), context.Pipe(False)
    # A process of its own, so that it takes no time of those who measure.
    process = context.Process(target=strike, args=(attack, hostile, ends, writer), daemon=True)
    process.start()
    time.sleep(RISE)
    beside = measure(good, SECONDS)
    ends.set()
    blows = reader.recv() if reader.poll(60) else collections.Counter()
    process.join(10)
    process.kill()
    settle(good)
    return beside, blows


def settle(good):
    """Waits until what an attack has left behind is done with."""
    end = time.monotonic() + SETTLING
    for action in (good.push, good.sign_in):
        while time.monotonic() < end:
            try:
                action()
                break
            except Refused:
                time.sleep(0.5)


def strike(attack, hostile, ends, writer):
    """Runs all clients of an attack until its end."""
    # The machine is not what is attacked: who measures goes first.
    os.nice(10)
    blows, lock = collections.Counter(), threading.Lock()

    def go(number):
        steps = attack.run(hostile, number)
        try:
            for status in steps:
                if status is not HELD:
                    with lock:
                        blows[status] += 1
                if ends.is_set():
                    break
        except Refused:
            with lock:
                blows[None] += 1
        finally:
            steps.close()

    threads = [threading.Thread(target=go, args=(number,), daemon=True) for number in range(attack.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    writer.send(blows)
