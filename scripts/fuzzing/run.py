"""A run: workers that make requests, and everything that judges the answers."""

import collections
import random
import sys
import threading
import time
import traceback
import urllib.request

from basics import Failure, fail
from client import Client
from document import Document
from judge import Judge
from making import Maker
from notes import Notes
from objects import Objects
from world import World


class Finding:
    def __init__(self, request, kind, text):
        self.request, self.kind, self.text = request, kind, text
        self.place = request.operation.id if request else "ledger"

    @property
    def signature(self):
        """Findings with the same one are the same fault."""
        words = self.text.split(":")[0] if self.kind in ("valid refused", "5xx", "undocumented", "shape") else ""
        return f"{self.kind} {self.place} {words}"


class History:
    """The records of the last requests: a fault is shown by what came shortly before."""

    KEPT = 30_000

    def __init__(self):
        self.requests, self.records = [], collections.deque(maxlen=self.KEPT)

    def append(self, request):
        self.requests.append(request)
        # What is answered long ago is kept as a record, whose large answers are cut.
        while len(self.requests) > 200:
            self.records.append(self.requests.pop(0).record())

    def all(self):
        return [*self.records, *(request.record() for request in self.requests)]


class Run:
    def __init__(self, options, folder, seed, workers=2, falsify=None, tamper=None, only=None):
        """`falsify` is a proxy that changes answers, `tamper` changes what was received: for planted.py."""
        self.seed, self.falsify, self.tamper = seed, falsify, tamper
        self.world = World(options, folder)
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.world.provider.port}/openapi.json").read()
        self.document = Document(text)
        unknown = [name for name in only or [] if name not in self.document.operations]
        if unknown:
            self.stop()
            fail(f"ONLY names no operation of the document: {', '.join(unknown)}")
        self.findings, self.history, self.coverage = [], History(), collections.Counter()
        self.judge, self.maker = Judge(self.document, self.complain), Maker(self.document, self.world)
        self.maker.only = only
        self.objects, self.notes = Objects(self.complain), Notes(self.world, self.complain)
        self.workers, self.lock, self.number, self.is_over = workers, threading.Lock(), 0, False

    def complain(self, request, kind, text):
        self.findings.append(Finding(request, kind, text))

    def begin(self, request):
        request.invoked = time.monotonic_ns()
        self.objects.begin(request)
        self.notes.begin(request)

    def perform(self, client, request):
        self.begin(request)
        status, fields, content = client.send(request)
        request.answered, request.status = time.monotonic_ns(), status
        if self.falsify:
            request.status, content = self.falsify(request, content)
        self.judge.look(request, fields, content)
        # The model first: what is linked now may be asked for by another worker at once.
        self.objects.end(request)
        self.notes.end(request)
        with self.lock:
            self.coverage[request.operation.id, request.status] += 1
            self.maker.follow(request)

    def next(self, worker, steps):
        """The next request, which the seed, its number and the answers so far decide; None at the end."""
        with self.lock:
            if self.number >= steps or self.is_over:
                return None
            self.number += 1
            request = self.maker.make(random.Random(f"{self.seed} {self.number}"), self.number)
            request.number, request.worker, request.receiver = self.number, worker, self.world.receiver_port
            self.history.append(request)
            return request

    def work(self, worker, steps, stop_at):
        client, request = Client(self.world.provider.port, self.world.keys), None
        try:
            while request := self.next(worker, steps):
                self.perform(client, request)
                if self.world.provider.process.poll() is not None:
                    raise Failure("the provider ended")
                if stop_at and any(stop_at(finding) for finding in self.findings):
                    self.is_over = True
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.is_over = True
            kind = "crash" if isinstance(error, Failure) else "judge"
            self.complain(request, kind, f"{type(error).__name__}: {error} {self.provider_log() if kind == 'crash' else ''}")
        finally:
            client.close()

    def provider_log(self):
        return self.world.provider.text()[-1500:]

    def run(self, steps, stop_at=None, seconds=90):
        threads = [threading.Thread(target=self.work, args=[worker, steps, stop_at]) for worker in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self.is_over:
            if self.number < steps:
                self.complain(None, "judge", f"{self.number} of {steps} steps were made")
            self.finish(seconds)
        return self.findings

    def finish(self, seconds):
        """Compares what was sent; a provider that does not answer any more is a finding too."""
        try:
            if self.tamper:
                self.tamper(self)
            self.notes.wait(seconds)
            for kind, text in self.notes.finish():
                self.complain(None, kind, text)
            self.objects.finish(self.notes.devices)
            self.notes.devices.finish()
        except Failure as failure:
            self.complain(None, "crash", f"{failure} {self.provider_log()}")

    def stop(self):
        self.world.provider.kill()

    def kinds(self):
        """The findings by their signatures."""
        found = {}
        for finding in self.findings:
            found.setdefault(finding.signature, []).append(finding)
        return found
