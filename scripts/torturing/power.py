"""The part in which the power fails: what may be on the disk then is made from a record of all writes, and examined."""

import errno
import os
import shutil
import time

from basics import APP, Failure, fail, figure, size
from power_judge import after_start, at_rest, in_ledger
from powerloss import WAYS, Disk, read_log
from provider import Provider
from pushservice import Answer, PushService
from shim import Recorder
from witness import Witness

PAGE = 50
# At which part of the time, which error, and at how many synchronizations and writes.
FAULTS = [(0.1, errno.EIO, 1, 0), (0.25, errno.EIO, 0, 1), (0.4, errno.EIO, 1, 0), (0.5, errno.EIO, 2, 0),
          (0.6, errno.EIO, 0, 3), (0.7, errno.ENOSPC, 0, 20)]


def power(options, rng):
    service = PushService(options.work, lambda *_: Answer(200, None, 0.01))
    folder = f"{options.work}/power"
    recorder = Recorder(options.work, folder, f"{options.work}/power.log")
    provider = Provider(options, folder, service, arguments_for(folder), recorder.variables)
    provider.start()
    provider.add_app(APP)
    witness = Witness(provider, rng, size("POWER_DEVICES", 300))
    witness.register_all()
    ready = time.monotonic_ns()
    refusals = live(provider, recorder, witness, size("POWER_SECONDS", 6))
    provider.await_end([note.identity for note in witness.notes], 60)
    provider.kill()
    operations = read_log(recorder.log)
    syncs = sum(operation.kind == "s" for operation in operations)
    if syncs < len(witness.notes):
        fail(f"{len(operations)} operations with {syncs} syncs were recorded: the recorder does not see what is written")
    figure("power_operations", len(operations), f"changes of files recorded, {syncs} synchronizations")
    figure("power_answers", len(witness.notes) + len(witness.devices), f"promises made, {refusals}")
    examine(options, rng, operations, service, witness, ready)


def arguments_for(folder):
    return ["--page", str(PAGE), "--admin-key-file", f"{folder}/first-admin.key"]


def live(provider, recorder, witness, seconds):
    """Load, and meanwhile the disk fails now and then, and in the end it is full. What that was answered."""
    begin, refused = time.monotonic(), []
    with witness:
        for share, error, syncs, writes in FAULTS:
            while time.monotonic() < begin + seconds * share:
                time.sleep(0.01)
            before = witness.refusals
            recorder.let_fail(error, syncs, writes)
            until(lambda: not recorder.is_pending, 20, f"{errno.errorcode[error]} does not strike")
            answered = len(witness.devices)
            until(lambda: len(witness.devices) > answered, 20, f"nothing is stored after {errno.errorcode[error]}")
            refused.append(f"{errno.errorcode[error]} at {'sync' if syncs else 'write'}: {witness.refusals - before}")
        while time.monotonic() < begin + seconds:
            time.sleep(0.01)
    return f"refused with 503: {', '.join(refused)}"


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            fail(what)
        time.sleep(0.01)


def moments_of_cut(operations, rng, count, ready):
    """After which operation the power fails: some while everything begins, of the others half anywhere, half just before or
    after a synchronization."""
    syncs = [index for index, operation in enumerate(operations) if operation.kind == "s"]
    first = next(index for index, operation in enumerate(operations) if operation.moment > ready)
    cuts = [rng.randrange(first) for _ in range(count // 6)]
    cuts += [rng.randrange(first, len(operations)) for _ in range(count // 2)]
    cuts += [max(0, rng.choice(syncs) - rng.randint(0, 1)) for _ in range(count - len(cuts))]
    return sorted(cuts)


def examine(options, rng, operations, service, witness, ready):
    count, starts = size("POWER_STATES", 60), size("POWER_STARTS", 10)
    cuts = moments_of_cut(operations, rng, count, ready)
    started = set(rng.sample([place for place, cut in enumerate(cuts) if operations[cut].moment > ready], starts))
    started |= {place for place, cut in enumerate(cuts) if operations[cut].moment <= ready}
    disk, next_operation, stakes, doubled = Disk(f"{options.work}/power", rng), 0, 0, 0
    for place, cut in enumerate(cuts):
        while next_operation <= cut:
            disk.take(operations[next_operation])
            next_operation += 1
        contents, stake = disk.state(rng.choice(list(WAYS)))
        stakes += stake > 0
        folder, moment = f"{options.work}/power-{place}", operations[cut].moment
        lay_out(folder, contents)
        faults = at_rest(options, folder, witness.before(moment))
        if place in started:
            try:
                doubled += start(options, folder, service, witness, moment, ready, faults)
            except Failure as failure:
                faults.append(str(failure))
        if faults:
            fail(f"{len(faults)} faults after a power failure at operation {cut}, see {folder}: {faults[:5]}")
        shutil.rmtree(folder)
    figure("power_states", len(cuts), f"states examined, {stakes} with something not yet on the disk for certain")
    figure("power_starts", len(started), f"providers started on one of them, {doubled} pushes came again")
    figure("power_lost", 0, "promises")
    lie(options, operations, witness, ready)


def lie(options, operations, witness, ready):
    """The same run on a disk that only says that it has written: then promises must be missed."""
    disk = Disk(f"{options.work}/power", None)
    for operation in operations:
        if operation.kind != "s" or operation.moment <= ready:
            disk.take(operation)
    folder = f"{options.work}/power-lie"
    lay_out(folder, disk.state("lost")[0])
    faults = at_rest(options, folder, witness.before(operations[-1].moment))
    if len(faults) < len(witness.notes):
        fail(f"a disk that has written nothing for the whole time is called sound, but for {faults[:3]}")
    figure("power_lie", len(faults), "promises are missed on a disk that lies, as they have to be")


def lay_out(folder, contents):
    os.makedirs(folder, mode=0o700)
    for name, content in contents.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(content)


def start(options, folder, service, witness, moment, ready, faults):
    """Everything goes on from there. How many pushes came again."""
    before = [push for push in service.received if push.at <= moment]
    later = PushService(options.work, lambda *_: Answer())
    provider = Provider(options, folder, later, arguments_for(folder))
    # Read before anything changes.
    ledger = in_ledger(folder)
    provider.start()
    if provider.call("GET", "/v1/apps")[0] != 200:
        faults.append("the first admin key is not one")
    if moment <= ready:
        provider.kill()
        return 0
    promised = witness.before(moment)
    replays = [(note, provider.call("POST", f"/v1/apps/{APP}/notifications", note.body,
                                    {"idempotency-key": note.key})) for note in promised.notes]
    identities = [note.identity for note in promised.notes]
    answers = provider.await_end(identities, 60)
    provider.wait_until_done(60)
    provider.stop()
    faults += after_start(ledger, before, later.received, replays, answers)
    return len({push.apns_id for push in before} & {push.apns_id for push in later.received})
