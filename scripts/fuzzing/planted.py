"""Faults that are planted into answers and into what was received, and the judge that has to notice each of them."""

import json

from basics import fail, figure
from run import Run
from world import options_folder

STEPS = 400


def answers(operations, change, every=1):
    """A proxy that changes the good answers of some operations, every so often."""
    count = [0]

    def falsify(request, content):
        if request.operation.id in operations and request.status in (200, 201, 202) and content:
            count[0] += 1
            if count[0] % every == 0:
                answer = json.loads(content)
                return request.status, json.dumps(change(answer, count[0]) or answer).encode()
        return request.status, content
    return falsify


def status(of, into, text=b'{"error":{"code":"made_up","message":"it is planted"}}', valid=None):
    """A proxy that changes a status."""
    def falsify(request, content):
        if request.status in of and (valid is None or request.is_valid == valid):
            return into, text
        return request.status, content
    return falsify


def without(name):
    return lambda answer, _: answer.pop(name, None) and None


def put(**members):
    return lambda answer, _: answer.update(members)



def count_down(answer, number):
    answer["counters"]["accepted"] = 1000 - number
    answer["recipients"] = 10 ** 6


def back_and_forth(answer, number):
    answer["state"] = "done" if number % 2 else "sending"


def another_id(answer, number):
    answer["id"] = f"00000000-0000-4000-8000-{number % 3:012}"


def gone(request, content):
    if request.operation.id == "showWebhook" and request.status == 200:
        return 404, b'{"error":{"code":"no_such_webhook","message":"it is planted","field":"webhook"}}'
    return request.status, content


def still_there(request, content):
    """What was deleted is shown as it was."""
    kept = still_there.kept
    place = request.path.get("webhook")
    if request.operation.id in ("addWebhook", "changeWebhook", "showWebhook") and request.status in (200, 201):
        kept[json.loads(content)["id"]] = content
    if request.operation.id == "showWebhook" and request.status == 404 and place in kept:
        return 200, kept[place]
    return request.status, content


still_there.kept = {}


def lose(run):
    del run.world.service.received[:]


def double(run):
    run.world.service.received.extend(list(run.world.service.received))


def stray(run):
    for place, push in enumerate(run.world.service.received):
        run.world.service.received[place] = push._replace(token="ab" * 32)


def deleted(run):
    """As if every device had been deleted before anything was sent."""
    for place in list(run.notes.registered):
        run.notes.registered[place] = [-10 ** 12]
        run.notes.deleted[place] = [0]


WEBHOOKS = "addWebhook showWebhook changeWebhook deleteWebhook listWebhooks"
SENDING = "registerDevice send showNotification"
# The operations that are asked, the kind of finding that each fault has to lead to, and the fault.
PLANTED = {
    "a server error": (WEBHOOKS, "5xx", status((200,), 500), None),
    "another status": (WEBHOOKS, "undocumented", status((204,), 418), None),
    "a missing member": (WEBHOOKS, "shape", answers(["showWebhook", "addWebhook"], without("events")), None),
    "a refusal": (WEBHOOKS, "valid refused", status((200,), 400, valid=True), None),
    "an acceptance": (WEBHOOKS, "invalid accepted", status((400,), 200, valid=False), None),
    "an open door": (WEBHOOKS, "open", status((401,), 200, b"{}"), None),
    "an old value": ("showPreferences setPreferences", "order", answers(["showPreferences"], put(optOuts=["x"]), 2), None),
    "a lost change": (WEBHOOKS, "order", answers(["changeWebhook"], put(url="http://x/"), 2), None),
    "a lost thing": (WEBHOOKS, "order", gone, None), "a thing that was deleted": (WEBHOOKS, "order", still_there, None),
    "an empty list": (WEBHOOKS, "list", answers(["listWebhooks"], put(webhooks=[])), None),
    "counters that go back": (SENDING, "counters", answers(["showNotification"], count_down), None),
    "a state that goes back": (SENDING, "state", answers(["showNotification"], back_and_forth), None),
    "the same id": (SENDING, "twice", answers(["send"], another_id), None),
    "a lost push": (SENDING, "lost", None, lose), "a doubled push": (SENDING, "doubled", None, double),
    "a push to a stranger": (SENDING, "stranger", None, stray),
    "a push to a deleted device": (SENDING, "deleted", None, deleted),
}


def selftest(options):
    for name, (only, kind, falsify, tamper) in PLANTED.items():
        still_there.kept = {}
        run = Run(options, options_folder(options, "planted"), options.seed, falsify=falsify, tamper=tamper)
        run.maker.only = only.split()
        try:
            run.run(STEPS, stop_at=lambda finding: finding.kind == kind, seconds=20)
            if not any(finding.kind == kind for finding in run.findings):
                fail(f"{name} was not noticed in {run.number} steps: {sorted(run.kinds())}")
        finally:
            run.stop()
    figure("api-planted", len(PLANTED), "planted faults, each noticed")
