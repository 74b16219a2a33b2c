"""Fuzzes the behaviour of a provider's REST API for scripts/fuzz-api."""

import argparse
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torturing"))

import replay
from basics import Failure, figure
from planted import selftest
from run import Run
from world import options_folder


# What a run has to reach, by its steps and the operations of the document: otherwise it has judged little.
def least_done(steps, operations):
    return int(operations * min(0.65, steps / 4000))


def least_pushes(steps, _):
    return steps // 20


def by_weight(item):
    """What is refused needs no long history, and comes last."""
    return item[1][0].kind in ("valid refused", "invalid accepted"), item[0]


def report(run, options):
    """Shows what was found, each kind once with a history that shows it. How many kinds. All of it is written before anything is
    asked again, since that takes its time and may fail."""
    found = sorted(run.kinds().items(), key=by_weight)
    history = run.history.all() if found else []
    if found:
        path = os.path.join(options.out, f"fuzz-api-{options.seed}-history.json")
        replay.save(path, options.seed, history)
        print(f"fuzz-api: the last {len(history)} steps: REPLAY={path}", file=sys.stderr, flush=True)
    short = []
    for number, (signature, findings) in enumerate(found):
        finding, path = findings[0], os.path.join(options.out, f"fuzz-api-{options.seed}-{number}.json")
        show(signature, findings)
        steps = replay.related(history, finding)
        replay.save(path, options.seed, steps, finding)
        print(f"  {len(steps)} steps that have to do with it: REPLAY={path}", file=sys.stderr, flush=True)
        # The first ones are enough to begin with.
        if number < 5 and finding.kind not in ("coverage", "crash"):
            short.append((path, steps, finding))
    for one in short:
        shorten(options, *one)
    return len(found)


def show(signature, findings):
    finding = findings[0]
    print(f"fuzz-api: {signature.strip()}, {len(findings)} times: {finding.text[:1500]}", file=sys.stderr)
    if request := finding.request:
        print(f"  step {request.number}: {request.operation.method} {request.target[:300]} "
              f"{(request.body or b'')[:600]!r} was answered {request.status}", file=sys.stderr)


def shorten(options, path, steps, finding):
    """Asks the steps of a finding again, and writes fewer that show it too."""
    again = replay.Replay(lambda: Run(options, options_folder(options, "replay"), options.seed))
    try:
        steps, is_shown = again.shortened(steps, finding)
    except Exception as error:
        print(f"  {path} stays as it is: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return
    replay.save(path, options.seed, steps, finding, is_shown)
    words = "which show it again" if is_shown else f"not seen again when they were repeated, within {replay.SECONDS} s"
    print(f"  {finding.kind}: {len(steps)} steps, {words}: REPLAY={path}", file=sys.stderr, flush=True)


def fuzz(options):
    only = options.only.split(",") if options.only else None
    run = Run(options, options_folder(options, "fuzz"), options.seed, options.workers, only=only)
    run.run(options.steps)
    run.stop()
    statuses = {(name, status) for name, status in run.coverage}
    done = {name for name, status in statuses if status and 200 <= status < 300}
    documented = sum(len(operation.responses) for operation in run.document.operations.values())
    print("never done:", " ".join(sorted(set(run.document.operations) - done)))
    figure("api-steps", run.number, f"requests, SEED={options.seed}")
    figure("api-operations", len(run.document.operations), "operations")
    figure("api-operations-done", len(done), "operations that were carried out")
    figure("api-statuses", len(statuses), f"operations x statuses, of {documented} documented")
    figure("api-orders", run.objects.orders, "races whose answers fit into an order")
    figure("api-notifications", len(run.notes.notes), "notifications")
    figure("api-pushes", run.notes.pushes, "pushes received")
    figure("api-devices-asked", run.notes.devices.asked, "times the model of devices had to ask the provider")
    if not only:
        for name, found, least in (("operations done", len(done), least_done), ("pushes", run.notes.pushes, least_pushes)):
            needed = least(options.steps, len(run.document.operations))
            if found < needed:
                run.complain(None, "coverage", f"{found} {name} in {options.steps} steps, at least {needed} are needed")
    count = report(run, options)
    figure("api-findings", count, "kinds of findings, must be 0")
    return count


def repeat(options):
    record = replay.load(options.replay)
    again = replay.Replay(lambda: Run(options, options_folder(options, "replay"), record["seed"]))
    findings = again.perform(record["steps"])
    for finding in findings:
        print(f"fuzz-api: {finding.kind} {finding.place}: {finding.text[:2000]}", file=sys.stderr)
    figure("api-findings", len(findings), "findings, must be 0")
    return len(findings)


parser = argparse.ArgumentParser()
for name in ("--martlet", "--work"):
    parser.add_argument(name, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--steps", type=int, default=3000)
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--out", default=".", help="where histories go")
parser.add_argument("--only", help="operations, with commas")
parser.add_argument("--replay")
parser.add_argument("--no-selftest", action="store_true")
options = parser.parse_args()
options.http2_port = 0
try:
    if options.replay:
        sys.exit(1 if repeat(options) else 0)
    if not options.no_selftest:
        selftest(options)
    sys.exit(1 if fuzz(options) else 0)
except Failure as failure:
    print(f"fuzz-api: {failure}", file=sys.stderr, flush=True)
    sys.exit(1)
