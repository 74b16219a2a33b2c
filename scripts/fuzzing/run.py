"""A run: workers that make requests, and everything that judges the answers."""

import collections
import random
import threading
import time
import urllib.request

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


class Run:
    def __init__(self, options, folder, seed, workers=2, falsify=None, tamper=None):
        """`falsify` is a proxy that changes answers, `tamper` changes what was received: for planted.py."""
        self.seed, self.falsify, self.tamper = seed, falsify, tamper
        self.world = World(options, folder, random.Random(seed))
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.world.provider.port}/openapi.json").read()
        self.document = Document(text)
        self.findings, self.history, self.coverage = [], [], collections.Counter()
        self.judge, self.maker = Judge(self.document, self.complain), Maker(self.document, self.world)
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
        self.coverage[request.operation.id, request.status] += 1
        with self.lock:
            self.maker.follow(request)
        self.objects.end(request)
        self.notes.end(request)

    def work(self, worker, steps, stop_at):
        rng, client = random.Random(f"{self.seed} {worker}"), Client(self.world.provider.port, self.world.keys)
        while not self.is_over:
            with self.lock:
                if self.number >= steps:
                    break
                self.number += 1
                request = self.maker.make(rng)
                request.number, request.worker = self.number, worker
                self.history.append(request)
            try:
                self.perform(client, request)
            except Exception as error:
                self.complain(request, "judge", f"{type(error).__name__}: {error}")
                raise
            if stop_at and any(stop_at(finding) for finding in self.findings):
                self.is_over = True
        client.close()

    def run(self, steps, stop_at=None, seconds=90):
        threads = [threading.Thread(target=self.work, args=[worker, steps, stop_at]) for worker in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self.is_over:
            if self.tamper:
                self.notes.wait(seconds)
                self.tamper(self)
            for kind, text in self.notes.finish(seconds):
                self.complain(None, kind, text)
        return self.findings

    def stop(self):
        self.world.provider.kill()

    def kinds(self):
        """The findings by their signatures."""
        found = {}
        for finding in self.findings:
            found.setdefault(finding.signature, []).append(finding)
        return found
