"""The part with many apps: one, or a stranger, does its worst to each resource in turn, and another app must not notice.

First five apps side by side (apps_silent), then each attack (apps_attacks) beside all that a good app's callers do (apps_doors)."""

import collections
import json
import multiprocessing
import os
import resource
import subprocess
import threading
import time

from apps_attacks import ATTACKS
from apps_client import Client, Refused, with_key
from apps_doors import APP as GOOD
from apps_doors import Arrivals, Good
from apps_hostile import APP as HOSTILE
from apps_hostile import FORM_KEY, HELD, Hostile
from apps_judge import (Measured, amounts, door_complaints, growth_complaints, merged, not_reached, p99, resource_names, slower,
                        without_attack)
from apps_silent import silent
from basics import fail, figure, size
from provider import Provider
from pushservice import SeparatePushService

# Of each measurement; for an attack to be at its full strength.
SECONDS, RISE = size("APP_SECONDS", 5), 1
# For what an attack has left behind, at most.
SETTLING = 60
# The greatest number of complaints that are printed.
PRINTED = 40
# The rate of one key and of a form, in requests a second, and that of new connections, so that an attack exceeds them on any machine.
RATE, CONNECTION_RATE = 100, 300
# What may grow beside one attack: the memory and the log of the provider, and its disk beside an attack of those who have no key.
BOUNDS = {"memory_mb": 256, "log_lines": 300}
DISK_BOUND = {"disk_mb": 48}


def apps(options, rng):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    chosen = [name for name in os.environ.get("APP_ATTACKS", "").split(",") if name]
    unknown = set(chosen) - {attack.name for attack in ATTACKS}
    if unknown:
        fail(f"no attack {', '.join(sorted(unknown))}: {', '.join(attack.name for attack in ATTACKS)}")
    found = without_attack(resources(options.martlet), ATTACKS) + ([] if chosen else silent(options, rng))
    found += attacked(options, rng, [attack for attack in ATTACKS if not chosen or attack.name in chosen])
    if found:
        fail("\n".join(found[:PRINTED]))


def resources(martlet):
    """The resources that the program lists."""
    done = subprocess.run([martlet, "help", "resources", "--markdown"], capture_output=True, text=True, check=False)
    return resource_names(done.stdout)


def attacked(options, rng, attacks):
    """Complaints about what a good app notices of each attack."""
    arguments = ["--door", f"{HOSTILE}={FORM_KEY}", "--key-rate", str(RATE), "--connection-rate", str(CONNECTION_RATE),
                 "--chat-authority", f"{options.work}/server.pem",
                 "--bridge-binary-port", "0", "--bridge-certificate", f"{options.work}/server.pem",
                 "--bridge-key", f"{options.work}/server.key"]
    arrivals = Arrivals()
    service = SeparatePushService(options.work, GOOD, arrivals.note)
    provider = Provider(options, f"{options.work}/doors", service, arguments)
    provider.start()
    try:
        good, hostile = Good(provider, rng, arrivals), Hostile(provider, rng)
    except Refused as refused:
        fail(f"the apps cannot be set up: {refused}")

    measure(good, 1)
    quiet = measure(good, 2 * SECONDS)
    found = door_complaints("in quiet", quiet, quiet)
    for name, measured in quiet.items():
        figure(f"apps_quiet_{name}", p99(measured.seconds) * 1000, f"ms, p99 of {len(measured.seconds)}")
    for attack in attacks:
        beside = beside_attack(good, hostile, attack)
        complaints = beside.complaints(quiet)
        if complaints and provider.process.poll() is None:
            # A machine that was busy with something else for a moment says nothing about an attack.
            quiet = merged(quiet, measure(good, SECONDS))
            again = beside_attack(good, hostile, attack)
            repeated = again.complaints(quiet)
            beside, complaints = (again, []) if not repeated else (beside, complaints + repeated)
        found += complaints
        beside.print(quiet)
        if provider.process.poll() is not None:
            found.append(f"{attack.name}: the provider has ended")
            break
    provider.kill()
    service.end()
    return found


class Beside:
    """What was seen beside an attack."""

    def __init__(self, attack, doors, blows, before, during, growth, trouble):
        self.attack, self.doors, self.blows, self.before, self.during = attack, doors, blows, before, during
        self.growth, self.trouble = growth, trouble

    def complaints(self, quiet):
        name, bounds = self.attack.name, {**BOUNDS, **(DISK_BOUND if self.attack.is_strangers else {})}
        found = door_complaints(name, quiet, self.doors)
        found += not_reached(name, self.attack.resources, self.before, self.during)
        found += growth_complaints(name, self.growth, bounds)
        return found + [f"{name}: {code} of {HOSTILE}" for code in self.trouble if self.attack.is_strangers]

    def print(self, quiet):
        door, times = slower(quiet, self.doors)
        struck = ", ".join(f"{number} x {status or 'no answer'}" for status, number in self.blows.most_common())
        grown = ", ".join(f"{name} {value:+.0f}" for name, value in self.growth.items())
        figure(f"apps_{self.attack.name}", times,
               f"times slower at most ({door}), beside blows that were answered {struck}; {grown}")


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
    """What is seen beside an attack at its full strength."""
    provider = good.provider
    context = multiprocessing.get_context("fork")
    ends, (reader, writer) = context.Event(), context.Pipe(False)
    before, sizes = sampled(provider), grown(provider)
    # A process of its own, so that it takes no time of those who measure.
    process = context.Process(target=strike, args=(attack, hostile, ends, writer), daemon=True)
    process.start()
    during, is_over, greatest = [], threading.Event(), {}

    def watch():
        while not is_over.wait(0.25):
            during.append(sampled(provider))
            for name, value in grown(provider).items():
                greatest[name] = max(greatest.get(name, 0), value - sizes[name])

    watcher = threading.Thread(target=watch)
    watcher.start()
    time.sleep(RISE)
    doors = measure(good, SECONDS)
    ends.set()
    is_over.set()
    watcher.join()
    blows = reader.recv() if reader.poll(90) else collections.Counter({"unknown": 1})
    process.join(10)
    process.kill()
    settle(good, attack)
    return Beside(attack, doors, blows, before, during, greatest, trouble(provider))


def sampled(provider):
    """What others than the good app hold of each resource now; nothing while there is no answer."""
    reply = Client(provider.port, headers=with_key(provider.key), timeout=5).ask("GET", "/metrics")
    return amounts(reply.body.decode(), GOOD) if reply and reply.status == 200 else {}


def grown(provider):
    """The size of what may grow."""
    try:
        with open(f"/proc/{provider.process.pid}/status") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024
    except (OSError, StopIteration):
        memory = 0
    disk = sum(entry.stat().st_size for entry in os.scandir(provider.folder) if entry.is_file())
    return {"memory_mb": memory, "disk_mb": disk / 2 ** 20, "log_lines": provider.text().count("\n")}


def trouble(provider):
    """What the overview says of the hostile app's environments, which nobody but the app itself may disturb."""
    reply = Client(provider.port, headers=with_key(provider.key)).ask("GET", "/v1/overview")
    if reply is None or reply.status != 200:
        return []
    return [entry["code"] for entry in json.loads(reply.body)["trouble"]
            if entry.get("app") == HOSTILE and entry["code"] in ("breakerOpen", "environmentPaused")]


def settle(good, attack):
    """Waits until what an attack has left behind is done with."""
    end = time.monotonic() + SETTLING
    for action in (good.push, good.sign_in, good.campaign):
        while True:
            try:
                action()
                break
            except Refused as refused:
                if time.monotonic() > end:
                    fail(f"{attack.name}: {SETTLING} s after it, {refused}")
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
    end = time.monotonic() + SECONDS + 60
    for thread in threads:
        thread.join(max(0.1, end - time.monotonic()))
    with lock:
        writer.send(collections.Counter(blows))
