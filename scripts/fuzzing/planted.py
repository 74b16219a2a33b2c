"""Faults that are planted into answers and into what was received, and the judge that has to notice each of them."""

import json

from basics import fail, figure
import planted_devices
import planted_issues
import planted_races
from client import Step
from planting import TOKEN, USER, ask, push_one, status
from registers import ABSENT, Register
from run import Run
from world import APPS, options_folder

STEPS = 400
# These make all that they need themselves.
FEW, BY_THEMSELVES = 50, {*planted_devices.PLANTED, *planted_issues.PLANTED, *planted_races.PLANTED}
# A fault of answers ends its run once it is noticed, and there are seeds with which that takes a while.
MOST = 10 * STEPS


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


class Dropped:
    """A change that is neither in its answer nor in those of later reads: the first URL stays."""

    def __init__(self):
        self.first = {}

    def __call__(self, request, content):
        if request.operation.id in ("addWebhook", "changeWebhook", "showWebhook") and request.status in (200, 201):
            answer = json.loads(content)
            answer["url"] = self.first.setdefault(answer["id"], answer["url"])
            content = json.dumps(answer).encode()
        return request.status, content


def every_push(**members):
    """A change of all that was received."""
    def tamper(run):
        run.world.service.received[:] = [push._replace(**members) for push in run.world.service.received]
    return tamper


def lose(run):
    del run.world.service.received[:]


def double(run):
    run.world.service.received.extend(list(run.world.service.received))


def deleted(run):
    """As if every device had been deleted before anything was sent."""
    for timeline in run.notes.devices.timelines.values():
        timeline.moments, timeline.states = [0, 1, 2], [frozenset([ABSENT]), frozenset(), frozenset([ABSENT])]


def stuck(run):
    """As if nothing had ended."""
    run.notes.listed = lambda app, state=None: [
        {"id": note.id} for note in run.notes.notes.values() if note.app == app]


def stopped(run):
    """As if an app had been stopped before the last push."""
    last = run.world.service.received[-1]
    request = Step(invoked=0, answered=last.at - 1, number=0, operation=run.document.operations["pauseApp"])
    run.notes.stops[last.topic].append((request, 0))


def elsewhere(run):
    """As if somebody else had been meant."""
    for note in run.notes.notes.values():
        if note.is_simple and not note.tokens:
            note.to = {"user": "somebody else"}


def unwilling(run):
    """As if nobody had wanted what was sent."""
    run.notes.devices.choices.default_factory = lambda: Register(frozenset(["planted"]))
    for note in run.notes.notes.values():
        note.category = "planted"


def left_out(run):
    run.world.provider.deliveries = lambda _: []


def taken(user, is_back):
    """An erasure that takes a schedule to somebody from whom it may take nothing."""
    def tamper(run):
        app = {"app": APPS[0]}
        while ask(run, "deleteUser", {**app, "user": USER})["state"] != "erased":
            pass
        if is_back:
            ask(run, "registerDevice", app, {"token": TOKEN, "user": USER})
        schedule = ask(run, "addSchedule", app, {"name": "planted", "schedule": {"cron": "0 9 * * *", "timeZone": "UTC"},
                                                 "notification": {"to": {"user": user}, "alert": "planted"}})
        run.falsify = status((200,), 404, NO_SCHEDULE)
        ask(run, "showSchedule", {"schedule": schedule["id"]})
    return tamper


WEBHOOKS = "addWebhook showWebhook changeWebhook deleteWebhook listWebhooks"
SENDING = "registerDevice send showNotification"
LATER = b'{"error":{"code":"busy","message":"it is planted"}}'
NO_SCHEDULE = b'{"error":{"code":"no_such_schedule","message":"it is planted","field":"schedule"}}'
# The operations that are asked, the kind of finding that each fault has to lead to, and the fault: a proxy, or what changes
# what was received.
PLANTED = {
    "a server error": (WEBHOOKS, "5xx", status((200,), 500), None),
    "an unexplained 503": (WEBHOOKS, "5xx", status((200,), 503), None),
    "a 429 without an end": (WEBHOOKS, "refused", status((200,), 429, LATER), None),
    "a refused key": (WEBHOOKS, "refused", status((200,), 403, valid=True), None),
    "another status": (WEBHOOKS, "undocumented", status((204,), 418), None),
    "a missing member": (WEBHOOKS, "shape", answers(["showWebhook", "addWebhook"], without("events")), None),
    "a refusal": (WEBHOOKS, "valid refused", status((200,), 400, valid=True), None),
    "an acceptance": (WEBHOOKS, "invalid accepted", status((400,), 200, valid=False), None),
    "an open door": (WEBHOOKS, "open", status((401,), 200, b"{}"), None),
    "an old value": ("showPreferences setPreferences", "order", answers(["showPreferences"], put(optOuts=["x"]), 2), None),
    "a lost change": (WEBHOOKS, "order", answers(["changeWebhook"], put(url="http://x/"), 2), None),
    "a change that is dropped everywhere": (WEBHOOKS, "change", Dropped(), None),
    "a lost thing": (WEBHOOKS, "order", gone, None), "a thing that was deleted": (WEBHOOKS, "order", still_there, None),
    "an empty list": (WEBHOOKS, "list", answers(["listWebhooks"], put(webhooks=[])), None),
    "a schedule that goes with another user": (SENDING, "order", None, taken("another", False)),
    "a schedule that goes with a user who came back": (SENDING, "order", None, taken(USER, True)),
    "counters that go back": (SENDING, "counters", answers(["showNotification"], count_down), None),
    "a state that goes back": (SENDING, "state", answers(["showNotification"], back_and_forth), None),
    "the same id": (SENDING, "twice", answers(["send"], another_id), None),
    "a lost push": (SENDING, "lost", None, lose), "a doubled push": (SENDING, "doubled", None, double),
    "a push to a stranger": (SENDING, "stranger", None, every_push(token="ab" * 32)),
    "a push of nobody": (SENDING, "unasked", None, every_push(apns_id="01234567-0123-8123-8123-0123456789ab")),
    "a push to a deleted device": (SENDING, "deleted", None, deleted),
    "a push to somebody else": (SENDING, "audience", None, elsewhere),
    "a push that is not wanted": (SENDING, "opted out", None, unwilling),
    "a push after a stop": (SENDING, "stopped", None, stopped),
    "a device that is left out": (SENDING, "missing", None, left_out),
    "a notification without an end": (SENDING, "stuck", None, stuck),
    "a provider that ends": (SENDING, "crash", None, lambda run: run.world.provider.kill()),
    "another user in an answer": (SENDING, "device", answers(["registerDevice"], put(user="planted")), None),
    **{name: (SENDING, kind, None, tamper) for name, (kind, tamper) in planted_devices.PLANTED.items()},
    **{name: (planted_races.OPERATIONS, kind, None, tamper) for name, (kind, tamper) in planted_races.PLANTED.items()},
    **{name: (planted_issues.OPERATIONS, "undecided", None, tamper) for name, tamper in planted_issues.PLANTED.items()},
}


def selftest(options):
    for name, (only, kind, falsify, tamper) in PLANTED.items():
        still_there.kept = {}

        def tampered(run, tamper=tamper):
            push_one(run)
            tamper(run)

        run = Run(options, options_folder(options, "planted"), options.seed, falsify=falsify,
                  tamper=tamper and tampered, only=only.split())
        try:
            steps = MOST if not tamper else FEW if name in BY_THEMSELVES else STEPS
            run.run(steps, stop_at=lambda finding: finding.kind == kind, seconds=5)
            if not any(finding.kind == kind for finding in run.findings):
                fail(f"{name} was not noticed in {run.number} steps: {sorted(run.kinds())}")
        finally:
            run.stop()
    figure("api-planted", len(PLANTED), "planted faults, each noticed")
