"""The part in which the provider is asked to end under load: in order, in time, and without a crash's consequences."""

import random
import subprocess
import time

from basics import APP, fail, figure, size
from power_judge import BEGUN, after_start, in_ledger, kept
from provider import Provider
from pushservice import SILENCE, Answer, PushService
from witness import Promises, Witness

# Seconds that an orderly end may take, and what a busy machine adds.
LONGEST, NOISE = 16, 10


def sigterm(options, rng):
    delays = random.Random(rng.random())
    service = PushService(options.work, lambda *_: Answer(200, None, delays.random() * 0.2))
    kind = service.judge
    provider = Provider(options, f"{options.work}/sigterm", service, ["--page", "50"])
    provider.start()
    provider.add_app(APP)
    witness, found, slowest = Witness(provider, rng, size("SIGTERM_DEVICES", 200), may_be_silent=True), [], 0
    witness.register_all()
    rounds = size("SIGTERMS", 6)
    for number in range(rounds):
        # Once the push service does not answer any more: then it is cut off in the end.
        is_silent = number == rounds // 2
        with witness:
            time.sleep(rng.uniform(0.1, 1.5))
            if is_silent:
                service.judge = lambda *_: SILENCE
                time.sleep(0.3)
            begin = time.monotonic()
            provider.process.terminate()
            # Clients go on to ask while it ends.
            status = wait(provider.process)
            slowest = max(slowest, time.monotonic() - begin)
        if status != 0 or slowest > LONGEST + NOISE:
            fail(f"asked to end it ends with {status} after {slowest:.1f} s:\n{provider.text()[-2000:]}")
        service.judge = kind
        if is_silent:
            provider.start()
            witness.repeat()
            continue
        found += at_rest(options, provider, witness)
        if found:
            break
        # After an orderly end all that was sent has a final state.
        states = in_ledger(provider.folder).states
        found += [f"{push.apns_id} was sent before the end and is not in the ledger"
                  for push in service.received if push.status and states.get(push.apns_id, BEGUN) == BEGUN]
        provider.start()
        witness.repeat()
    answers = provider.await_end([note.identity for note in witness.notes], 60)
    provider.wait_until_done(60)
    provider.stop()
    found += twice(service.received, in_ledger(provider.folder), answers)
    figure("sigterm_rounds", rounds, f"ends under load, {len(witness.notes)} notifications, {len(service.received)} pushes")
    figure("sigterm_slowest", slowest, f"s, allowed are {LONGEST}")
    figure("sigterm_silences", witness.silences, f"requests without an answer meanwhile, {witness.refusals} refused")
    figure("sigterm_faults", len(found), "promises broken or pushes doubled, must be 0")
    if found:
        fail("\n".join(found[:20]))


def twice(received, ledger, answers):
    """What came again: nothing that had been answered, and of at-most-once nothing at all."""
    answered = [push for push in received if push.status]
    silent = [push for push in received if not push.status]
    found = after_start(ledger._replace(states={}), silent, answered, [], answers)
    again = len(answered) - len({push.apns_id for push in answered})
    return found + ([f"{again} pushes came twice without a crash"] if again else [])


def wait(process):
    try:
        return process.wait(timeout=LONGEST + NOISE)
    except subprocess.TimeoutExpired:
        return None


def at_rest(options, provider, witness):
    """What the file says once the provider has ended."""
    found = kept(in_ledger(provider.folder), Promises(witness.notes, witness.devices, witness.finals))
    check = subprocess.run([options.martlet, "check", "--at-rest", "--data-directory", provider.folder],
                           capture_output=True, text=True)
    if check.returncode:
        found.append(f"martlet check --at-rest: {check.stdout}{check.stderr}"[:1000])
    return found
