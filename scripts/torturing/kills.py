"""The part that kills the provider at random moments."""

import random
import threading
import time

from basics import fail, figure
from campaigns import Campaigns
from gateway import Gateway
from importer import Importer
from proof import prove_deliveries, prove_rest
from provider import Provider
from receiver import Receiver
from schedules import Schedules, is_amid
from window import DECLARED, CrashWindow
from worker import Registrar


class Torment:
    """Everything that is under way, and a provider that dies over and over."""

    def __init__(self, options, tokens, rng):
        self.options, self.rng = options, rng
        self.provider, self.gateway = Provider(options, f"{options.work}/provider"), Gateway(options.admin_port)
        self.receiver = Receiver(random.Random(rng.random()))
        self.campaigns, self.schedules = Campaigns(self.provider, tokens, rng), Schedules(self.provider, rng)
        self.workers = [Registrar(self.provider), Importer(self.provider, random.Random(rng.random()))]
        self.window = CrashWindow()
        # The slowest start; how many pushes came again after each kill.
        self.restart, self.doubled = 0, []
        self.provider.start()
        self.provider.set_up(tokens)
        self.receiver.add_to(self.provider)
        self.gateway.must("POST", "/v1/faults", {"reason": "ServiceUnavailable", "percent": 4})
        self.gateway.must("POST", "/v1/faults", {"latency": "1ms..60ms", "percent": 50})
        self.schedules.add()

    def run(self):
        while len(self.doubled) < self.options.kills:
            self.live_and_die()
            if len(self.doubled) % 6 == 3 and is_amid():
                self.miss_runs()
            elif self.rng.random() < 0.1:
                self.die_at_birth()
            self.start()
            self.campaigns.send()
            if len(self.doubled) % 20 == 0:
                print(f"{len(self.doubled)} kills, {len(self.gateway.first)} received", flush=True)

    def start(self):
        self.restart = max(self.restart, self.provider.start())

    def live_and_die(self):
        """Everything goes on for a while, and into the middle of it falls a kill."""
        registrar, importer = self.workers
        moment = self.moment()
        with registrar, importer:
            self.campaigns.drive(moment - 0.1)
            kill = threading.Timer(max(0, moment - time.monotonic()), self.provider.kill)
            kill.start()
            self.campaigns.make()
            self.campaigns.send()
            kill.join()
        self.died()

    def moment(self):
        """When the next kill falls: any time, but if the minute turns before, then just as the schedules run."""
        seconds, to_turn = self.rng.uniform(0.05, 2), 60 - time.time() % 60
        if to_turn < seconds + 0.3:
            seconds = to_turn + self.rng.uniform(-0.05, 0.3)
        return time.monotonic() + seconds

    def miss_runs(self):
        """Runs were missed, and while they are made up for, it dies again."""
        self.schedules.miss()
        self.die_at_birth()
        self.start()
        time.sleep(self.rng.uniform(0, 0.1))
        self.provider.kill()
        self.died()
        self.start()
        self.schedules.made_up_for()
        self.provider.kill()
        self.died()

    def die_at_birth(self):
        self.provider.launch()
        time.sleep(self.rng.uniform(0, 0.3))
        self.provider.kill()
        self.died()

    def died(self):
        """What it has left behind is looked at before it starts again."""
        database = self.provider.database()
        self.window.look(database)
        self.workers[1].look(database)
        database.close()
        # What had arrived before the kill belongs to the one before.
        late = self.gateway.read()
        if self.doubled:
            self.doubled[-1] += late
        self.doubled.append(0)

    def end(self):
        """Seconds until everything has ended and been told."""
        begin = time.monotonic()
        self.gateway.must("DELETE", "/v1/faults")
        self.schedules.end()
        self.campaigns.cancel(float("inf"))
        self.workers[1].end()
        self.provider.wait_until_done()
        self.receiver.wait(self.provider)
        self.provider.stop()
        self.doubled[-1] += self.gateway.read()
        return time.monotonic() - begin


def kills(options, tokens, rng):
    torment = Torment(options, tokens, rng)
    torment.run()
    seconds = torment.end()
    prove(torment)
    figure("torture_rest", seconds, "s until all had ended and been told after the last kill")
    figure("torture_restart", torment.restart, "s at most until the API is open")


def prove(torment):
    registrar, importer = torment.workers
    gateway, receiver, schedules = torment.gateway, torment.receiver, torment.schedules
    database = torment.provider.database()
    totals = prove_deliveries(database, gateway, torment.window)
    torment.window.prove(database, gateway)
    timed = torment.campaigns.prove(database, gateway)
    runs, imported = schedules.prove(database), importer.prove(database)
    registrar.prove(database)
    told = receiver.prove(database)
    prove_rest(torment.provider, database)
    most = max(torment.doubled)
    if most > DECLARED:
        fail(f"{most} came again after one kill, more than the declared {DECLARED}")
    figure("torture_kills", len(torment.doubled),
           f"kills, {torment.window.struck} with pages under way, {torment.window.struck_retries} with retries")
    figure("torture_notifications", len(torment.campaigns.answered), "notifications accepted, all stored")
    figure("torture_received", len(gateway.first), "different pushes at the gateway")
    figure("torture_lost", 0, "pushes")
    figure("torture_doubled", sum(torment.doubled), "pushes, in flight at a kill, with the apns-id of the first")
    figure("torture_doubled_by_one_kill", most, f"pushes at most, declared are {DECLARED}")
    figure("torture_interrupted", totals["atMostOnce", 5], "of at-most-once, ended as unknown; none came twice")
    figure("torture_cancelled", torment.campaigns.cancelled, "notifications cancelled, mostly under way")
    figure("torture_timed", timed, "notifications for a moment, nothing received before it")
    figure("torture_runs", runs, f"runs of schedules, {schedules.lapses} times some missed; none left out or run twice")
    figure("torture_registrations", len(registrar.confirmed), "registrations answered, all stored")
    figure("torture_imports", importer.answered, "imports answered, all stored")
    figure("torture_imports_cut", importer.interrupted, f"imports cut off, {importer.partly} after some transactions")
    figure("torture_imported", imported, "devices imported, none twice")
    figure("torture_events", told, f"events told to the webhook, none missing; {receiver.again} told again")
    figure("torture_posts", sum(receiver.posts.values()), f"posts to the webhook: {receiver.posts}")
