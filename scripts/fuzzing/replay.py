"""A history that is asked again, and made as short as it shows the same fault."""

import bisect
import json
import os
import re
import threading
import time

from changes import CONCERNED
from client import Client, Step

# What a provider makes: ids, secrets, cursors. Names and tokens are the same in each run.
MADE = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-|^[A-Za-z0-9_.~-]{20,}$")
# The kinds of findings that the model of devices leads to.
OF_DEVICES = {"audience", "deleted", "stranger", "missing", "device", "opted out"}
# A finding is shortened for so long at most.
SECONDS = 30


def differences(old, new, found):
    """What a provider called otherwise this time, by what it was called in the record."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            differences(old[name], new[name], found)
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new):
            differences(one, other, found)
    elif isinstance(old, str) and isinstance(new, str) and old != new and MADE.search(old):
        found[old] = new
        found[old.lower()] = new.lower()


class Replay:
    def __init__(self, make_run):
        """`make_run()` is a run with a new provider."""
        self.make_run = make_run

    def perform(self, steps, end=float("inf")):
        """The findings of these recorded steps; none if they are not over at the end of the time. Each waits for what was
        answered before it was asked; others overlap again."""
        run, names, workers = self.make_run(), {}, {}
        for record in sorted(steps, key=lambda record: record["invoked"]):
            workers.setdefault(record["worker"], []).append(record)
        done = {record["step"]: threading.Event() for record in steps}
        try:
            threads = [threading.Thread(target=self.all, args=[run, worker, workers, done, names, end]) for worker in workers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if time.monotonic() < end:
                run.finish(min(20, max(1, end - time.monotonic())))
            return run.findings if time.monotonic() < end else []
        finally:
            run.stop()

    def all(self, run, worker, workers, done, names, end):
        """Asks what one worker asked, in its order."""
        client = Client(run.world.provider.port, run.world.keys)
        for record in workers[worker]:
            if time.monotonic() > end:
                done[record["step"]].set()
                continue
            for others in workers.values():
                before = bisect.bisect_right(others, record["invoked"], key=lambda other: other["answered"])
                if before:
                    done[others[before - 1]["step"]].wait()
            try:
                self.one(run, client, record, names)
            except Exception as error:
                run.complain(None, "judge", f"{type(error).__name__}: {error}")
            finally:
                done[record["step"]].set()
        client.close()

    @staticmethod
    def one(run, client, record, names):
        def named(value):
            if isinstance(value, dict):
                return {name: named(member) for name, member in value.items()}
            if isinstance(value, str):
                for old, new in list(names.items()):
                    if old in value:
                        value = value.replace(old, new)
            return value
        body = record["body"]
        request = Step(
            number=record["step"], worker=record["worker"], operation=run.document.operations[record["operation"]],
            path=named(record["path"]), query=named(record["query"]), headers=named(record["headers"]),
            kind=record["kind"], key=record["key"], body=None if body is None else named(body).encode("latin-1", "replace"))
        if record.get("receiver"):
            old, new = (b"127.0.0.1:%d" % port for port in (record["receiver"], run.world.receiver_port))
            request.body = request.body and request.body.replace(old, new)
        if "user-proof" in request.headers and (proof := run.world.proof(request.path["app"])):
            # The old one is signed with the secret of another provider.
            request.headers["user-proof"] = proof
        run.maker.examine(request)
        run.history.append(request)
        run.perform(client, request)
        with run.lock:
            differences(record["answer"], request.answer, names)

    def shortened(self, steps, finding, seconds=SECONDS):
        """Fewer steps that show the same kind of fault at the same operation, and whether they did within the time."""
        end = time.monotonic() + seconds

        def shows(some):
            return any(other.kind == finding.kind and other.place == finding.place for other in self.perform(some, end))

        if not shows(steps):
            return steps, False
        size = max(1, len(steps) // 2)
        while time.monotonic() < end and len(steps) > 1:
            for first in range(0, len(steps), size):
                fewer = steps[:first] + steps[first + size:]
                if time.monotonic() > end:
                    break
                if fewer and shows(fewer):
                    steps = fewer
                    break
            else:
                if size == 1:
                    break
                size = max(1, size // 2)
        return steps, True


def related(steps, finding):
    """The steps that have to do with what is at fault: with the same ids, and those that made these. A fault of devices may
    come from each change of a device."""
    last = finding.request.number if finding.request else None
    text = finding.text + (json.dumps(finding.request.record()) if finding.request else "")
    words, kept = words_of(text), []
    for record in reversed([record for record in steps if last is None or record["step"] <= last]):
        own = words_of(json.dumps([record["path"], record["query"], record["body"], record["answer"]]))
        makes = record["operation"] in ("addApp", "registerDevice", "registerSelf", "addUserSecret")
        # These end things that they do not name.
        ends = record["operation"] in ("deleteApp", "deleteUser", "deletePublication")
        is_of_devices = finding.kind in OF_DEVICES and record["operation"] in CONCERNED
        if record["step"] == last or own & words or ends or is_of_devices or makes and len(kept) < 200:
            kept.append(record)
            if len(words) < 40:
                words |= words_of(json.dumps(record["path"]))
    return kept[::-1]


def words_of(text):
    """Ids, the names of what is in a library, and the beginnings of tokens."""
    return {word.lower() for word in re.findall(
        r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|named \d|\b[0-9a-f]{12}(?=…|[0-9a-f]{52}\b)", text)}


def load(path):
    with open(path) as file:
        return json.load(file)


def save(path, seed, steps, finding=None, is_shown=False):
    """Writes a history; whole before it takes the place of an earlier one."""
    about = {"kind": finding.kind, "place": finding.place, "text": finding.text} if finding else {}
    with open(f"{path}.new", "w") as file:
        json.dump({"seed": seed, **about, "isShown": is_shown, "steps": steps}, file, indent=1 if finding else None)
    os.replace(f"{path}.new", path)
