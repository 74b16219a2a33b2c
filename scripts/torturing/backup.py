"""The part that saves and brings back a database under load, while the provider, the backup or the restore is killed."""

import os
import random
import shutil
import subprocess
import time

from basics import APP, fail, figure, size
from power_judge import after_start, in_ledger, kept
from provider import Provider
from pushservice import Answer, PushService
from witness import Witness

PAGE = 50


class World:
    def __init__(self, options, rng):
        self.options, self.rng, delays = options, rng, random.Random(rng.random())
        self.service = PushService(options.work, lambda *_: Answer(200, None, delays.random() * 0.05))
        self.provider = Provider(options, f"{options.work}/backup", self.service, ["--page", str(PAGE)])
        self.provider.start()
        self.provider.add_app(APP)
        self.witness = Witness(self.provider, rng, size("BACKUP_DEVICES", 200), may_be_silent=True)
        self.witness.register_all()
        self.found, self.cut_backups, self.cut_restores = [], 0, 0

    def martlet(self, *arguments):
        return subprocess.Popen([self.options.martlet, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def finish(self, process, what):
        text, _ = process.communicate(timeout=60)
        if process.returncode:
            self.found.append(f"{what} ends with {process.returncode}: {text[-500:]}")

    def save(self, path):
        """A backup under load; what had been promised when it began, and when it ended."""
        with self.witness:
            time.sleep(self.rng.uniform(0.3, 1))
            if self.rng.random() < 0.5:
                self.cut(path)
            promised = self.witness.before(time.monotonic_ns())
            process = self.martlet("backup", "--data-directory", self.provider.folder, "--to", path)
            if self.rng.random() < 0.5:
                time.sleep(self.rng.uniform(0, 0.5))
                self.provider.kill()
            self.finish(process, "backup")
            ended = time.monotonic_ns()
        if self.provider.process.poll() is not None:
            self.provider.start()
            self.witness.repeat()
        return promised, ended

    def cut(self, path):
        """A backup that is killed does not get the name, unless it had ended."""
        process = self.martlet("backup", "--data-directory", self.provider.folder, "--to", path)
        time.sleep(self.rng.uniform(0, 0.4))
        process.kill()
        process.communicate()
        self.cut_backups += 1
        if os.path.exists(path):
            self.finish(self.martlet("check", path), "check of a backup that has its name")
            os.remove(path)

    def bring_back(self, path, folder):
        """Restores, sometimes over what is there, sometimes once more after a kill."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        shutil.copy2(f"{self.provider.folder}/master.key", folder)
        arguments = ["restore", path, "--data-directory", folder, "--replace"]
        while self.rng.random() < 0.6:
            process = self.martlet(*arguments)
            time.sleep(self.rng.uniform(0, 0.5))
            process.kill()
            process.communicate()
            self.cut_restores += 1
            self.look_at_half(folder)
        self.finish(self.martlet(*arguments), "restore")

    def look_at_half(self, folder):
        """After a restore that was killed there is a whole database, none, or a provider that refuses to start."""
        if not os.path.exists(f"{folder}/provider.sqlite"):
            return
        marked = os.path.exists(f"{folder}/provider.sqlite.replacing")
        if not marked:
            return self.finish(self.martlet("check", "--data-directory", folder), "check after a restore was killed")
        process = self.martlet("serve", "--data-directory", folder, "--port", "0")
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        if process.returncode <= 0:
            self.found.append("a provider serves from a database that is replaced by half")

    def go_on(self, folder, promised, ended):
        """A provider on what was restored: everything is there, waits, and goes on without doubles but the declared ones."""
        ledger = in_ledger(folder)
        self.found += kept(ledger, promised)
        service = PushService(self.options.work)
        provider = Provider(self.options, folder, service, ["--page", str(PAGE)])
        provider.start()
        provider.key = self.provider.key
        for note in promised.notes:
            state = provider.must("GET", f"/v1/notifications/{note.identity}")["state"]
            if state not in ("done", "cancelled", "paused"):
                self.found.append(f"{note.identity} is {state} after a restore, and nobody has said so")
            if state == "paused":
                provider.must("POST", f"/v1/notifications/{note.identity}:resume")
        replays = [(note, provider.call("POST", f"/v1/apps/{APP}/notifications", note.body,
                                        {"idempotency-key": note.key})) for note in promised.notes]
        answers = provider.await_end([note.identity for note in promised.notes], 60)
        provider.stop()
        before = [push for push in self.service.received if push.at <= ended]
        # At most once holds between a backup and its restore only for what had begun by then.
        begun = [push for push in before if push.apns_id in ledger.states]
        self.found += after_start(ledger, begun, service.received, replays, answers)


def backup(options, rng):
    world, rounds = World(options, rng), size("BACKUPS", 4)
    for number in range(rounds):
        path, folder = f"{options.work}/backup-{number}.sqlite", f"{options.work}/restored-{number % 2}"
        promised, ended = world.save(path)
        if not world.found:
            world.bring_back(path, folder)
        if not world.found:
            world.go_on(folder, promised, ended)
        if world.found:
            break
    world.provider.await_end([note.identity for note in world.witness.notes], 60)
    world.provider.stop()
    figure("backup_rounds", rounds,
           f"backups under load that were restored and went on, {len(world.witness.notes)} notifications")
    figure("backup_cut", world.cut_backups, "backups killed")
    figure("backup_cut_restores", world.cut_restores, "restores killed")
    figure("backup_faults", len(world.found), "promises broken, must be 0")
    if world.found:
        fail("\n".join(world.found[:20]))
