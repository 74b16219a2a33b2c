"""Notifications: what was asked to be sent, what the API says of it, and what the push service received."""

import bisect
import collections
import json
import threading
import time

from apns_id import prefix_of
from client import Step
from devices import Devices, matches
from erasure import SETTLING
from registers import ABSENT, UNKNOWN
from registration import ENVIRONMENTS, environment_of, hexadecimal

ENDED = ("done", "cancelled")
STATES = ("accepted", "rejected", "failed", "skipped", "unknown")
# With these a request sends to others, later, or in another way than its audience says.
SPECIAL = {"when", "pace", "expiration", "expiresIn", "template", "web", "liveActivity", "payload", "pushType", "mdm", "wallet",
           "pushToTalk", "fileProvider", "contentChanged", "topic", "encrypted"}
# The clock of the provider beside that of the requests, and how far its milliseconds may be off.
OFFSET, MARGIN = time.time_ns() - time.monotonic_ns(), 1_000_000_000
# After the answer to a change of a device's user or token, or its removal, only what a connection has already is still sent to
# it (docs/decisions/0051). For so long that may be on its way here, on a busy machine.
ON_ITS_WAY = 15_000_000_000


class Note:
    """One that was answered 202; `shown` is what the API said last, and when that was asked and answered."""

    def __init__(self, request, identity):
        self.id, self.app, self.invoked, self.answered = identity, request.path.get("app"), request.invoked, request.answered
        body = request.json if request.operation.id == "send" else {}
        to = body.get("to")
        self.to = to if isinstance(to, dict) else {}
        self.tokens = {hexadecimal(token) for token in self.to.get("tokens") or [] if isinstance(token, str)}
        self.is_simple = body != {} and len(self.to) == 1 and not SPECIAL & {name for name in body if body[name] is not None}
        self.category, self.urgent = body.get("consentCategory"), body.get("urgent")
        self.environments = [environment_of(body)] if body.get("environment") else list(ENVIRONMENTS)
        self.shown = collections.deque(maxlen=20)


class Notes:
    def __init__(self, world, complain):
        self.world, self.complain, self.lock = world, complain, threading.Lock()
        self.notes, self.keys = {}, {}
        # What forgets idempotency keys: the deletions of apps and the erasures of users.
        self.removals = []
        self.devices = Devices(world.tokens, self.listed_devices, complain)
        # The notifications that answers named, whoever made them, and the sending requests without an answer.
        self.seen, self.lost = set(), 0
        # Of a notification or an app: its stops with the pushes under way, and when something let it go on.
        self.stops, self.resumed = collections.defaultdict(list), collections.defaultdict(list)
        # The tests of credentials, which push to a token that nobody has.
        self.tests, self.pushes = [], 0
        # Users that were erased, and their deliveries with them.
        self.erased = set()

    def begin(self, request):
        """A continuation counts from the moment in which it is sent."""
        name = request.operation.id
        self.devices.begin(request)
        with self.lock:
            if name in ("deleteApp", "deleteUser"):
                self.removals.append(request)
            if name == "testCredential":
                self.tests.append(request)
            if name in ("resumeApp", "deleteApp"):
                self.resumed[request.path["app"]].append(request)
            if name == "resumeNotification":
                self.resumed[request.path["notification"].lower()].append(request)

    def end(self, request):
        name, answer = request.operation.id, request.answer
        self.devices.end(request)
        with self.lock:
            if request.status is None and name in ("send", "broadcast", "resendNotification", "notifyIssue"):
                self.lost += 1
            if isinstance(answer, dict) and request.status in (200, 201, 202):
                self.seen.update(note["id"].lower() for note in answer.get("notifications", [])
                                 if isinstance(note, dict) and "id" in note)
            if name == "deleteUser" and request.status in (200, 202):
                self.erased.add((request.path["app"], request.path["user"]))
            if name == "pauseApp" and request.status == 200:
                self.stops[request.path["app"]].append((request, answer.get("underWay", 0)))
            if name in ("send", "broadcast", "resendNotification") and request.status == 202:
                self.take(request)
            if name == "showNotification" and request.status == 200:
                self.look(request, answer)
            if name in ("cancelNotification", "pauseNotification", "resumeNotification") and request.status == 200:
                self.look(request, answer)
                if name != "resumeNotification" and answer["state"] != "done":
                    self.stops[answer["id"].lower()].append((request, answer.get("underWay", 0)))

    def is_gone(self, known, request):
        """Whether the notification that a key made may have gone before a request with its app or, if it went to nobody else,
        with its user. An erasure goes on after its answer, and to whom something was sent again is not known."""
        note = self.notes[known[0]]
        return any(
            removal.path["app"] == request.answer["app"] and removal.status in (None, 200, 202)
            and removal.invoked <= request.answered and (
                removal.status is None or removal.answered + SETTLING * (removal.status == 202) >= note.invoked)
            and (removal.operation.id == "deleteApp" or note.to in ({}, {"user": removal.path["user"]}))
            for removal in self.removals)

    def take(self, request):
        identity = request.answer["id"]
        key = request.headers.get("idempotency-key")
        if key:
            place = request.answer["app"], key
            made = identity, request.body, request.operation.id
            known = self.keys.setdefault(place, made)
            if known[0] != identity and self.is_gone(known, request):
                known = self.keys[place] = made
            if known[0] != identity:
                self.complain(request, "twice", f"a repeated idempotency key made {identity} beside {known[0]}")
            elif known[1:] != (request.body, request.operation.id) and same_bytes(known[1], request.body) is False:
                self.complain(request, "twice", "another body with the same idempotency key is answered 202")
        elif identity in self.notes:
            self.complain(request, "twice", f"{identity} is answered to two requests without a key")
        self.notes.setdefault(identity, Note(request, identity))
        self.look(request, request.answer)

    def look(self, request, answer):
        """What is said later agrees with what was said before."""
        self.seen.add(answer["id"].lower())
        note = self.notes.get(answer["id"])
        if note is None:
            return
        counters = answer["counters"]
        told = request.invoked, request.answered, answer["state"], {name: counters[name] for name in STATES}
        total = sum(counters[name] for name in STATES)
        if total > answer.get("recipients", total):
            self.complain(request, "counters", f"{note.id}: {counters} for {answer['recipients']} recipients")
        for invoked, answered, state, before in note.shown:
            if answered < told[0]:
                first, second = (state, before), told[2:]
            elif invoked > told[1]:
                first, second = told[2:], (state, before)
            else:
                continue
            if first[0] in ENDED and second[0] != first[0]:
                self.complain(request, "state", f"{note.id} is {second[0]} after it was {first[0]}")
            # After a resend nothing is taken back either; a retry counts only once it has ended.
            if any(second[1][name] < first[1][name] for name in STATES):
                self.complain(request, "counters", f"{note.id} has {second[1]} after {first[1]}")
        note.shown.append(told)

    def wait(self, seconds):
        """Until what has begun has ended; nothing is paused any more, and no app has a low rate meanwhile."""
        provider = self.world.provider
        rates = {app: provider.must("GET", f"/v1/apps/{app}").get("rate") for app in self.world.tokens}
        self.resume()
        for app in rates:
            provider.must("PATCH", f"/v1/apps/{app}", {"rate": 90_000})
        self.wait_for_ends(seconds)
        for app, rate in rates.items():
            provider.must("PATCH", f"/v1/apps/{app}", {"rate": rate})

    def resume(self):
        provider = self.world.provider
        for app in self.world.tokens:
            self.resumed[app].append(Step(invoked=time.monotonic_ns()))
            provider.must("POST", f"/v1/apps/{app}:resume")
            for environment in ENVIRONMENTS:
                provider.call("POST", f"/v1/apps/{app}/environments/{environment}:resume")
            for one in [note["id"] for note in self.listed(app, "paused")]:
                self.resumed[one.lower()].append(Step(invoked=time.monotonic_ns()))
                provider.call("POST", f"/v1/notifications/{one}:resume")

    def wait_for_ends(self, seconds):
        provider, end = self.world.provider, time.monotonic() + seconds
        while True:
            # What waits for its time says so.
            going = [note["id"] for app in self.world.tokens for note in self.listed(app, "sending")
                     if note.get("nextAtMs", 0) < time.time() * 1000]
            if not going:
                return
            if time.monotonic() > end:
                for one in [one for one in going if one in self.notes and self.notes[one].is_simple][:5]:
                    answer = provider.must("GET", f"/v1/notifications/{one}")
                    self.complain(None, "stuck", f"{one} is {answer['state']} after {seconds} s: {answer}")
                return
            time.sleep(0.3)

    def listed(self, app, state=None):
        """An app's notifications."""
        return self.pages(app, "notifications", f"&state={state}" if state else "")

    def listed_devices(self, app):
        return self.pages(app, "devices", "")

    def pages(self, app, name, query):
        """The whole list of an app's things."""
        found, cursor = [], ""
        while True:
            page = self.world.provider.must("GET", f"/v1/apps/{app}/{name}?limit=1000{query}{cursor}")
            found += page[name]
            if not page.get("next"):
                return found
            cursor = f"&cursor={page['next']}"

    def finish(self):
        """Compares the ledger with what was received."""
        provider, faults = self.world.provider, []
        # What is received is read after what is said of it, since something may still be sent.
        answers = {}
        for app in self.world.tokens:
            self.seen.update(note["id"].lower() for note in self.listed(app))
        for note in list(self.notes.values()):
            status, answer = provider.call("GET", f"/v1/notifications/{note.id}")
            if status == 200:
                answers[note] = answer, provider.deliveries(note.id)
        prefixes = {prefix_of(identity): note for identity, note in self.notes.items()}
        known = {prefix_of(identity) for identity in self.seen} | set(prefixes)
        received = [push for push in list(self.world.service.received)
                    if prefix_of(push.apns_id) in known or not self.is_test(push)]
        self.pushes = len(received)
        by_id, times = collections.Counter(push.apns_id for push in received), collections.defaultdict(list)
        for push in received:
            times[prefix_of(push.apns_id)].append(push.at)
            times[push.topic].append(push.at)
        accepted = set()
        for note, (answer, deliveries) in answers.items():
            faults += self.unlike(note, answer, deliveries) + self.missing(note, answer, deliveries)
            for delivery in deliveries:
                if delivery["state"] == "accepted":
                    accepted.add(delivery["apnsId"].lower())
                    if not by_id[delivery["apnsId"].lower()]:
                        faults.append(("lost", f"{delivery['apnsId']} of {note.id} is accepted and was never received"))
        faults += [("doubled", f"{pushed} was received {count} times") for pushed, count in by_id.items()
                   if count > 1 and pushed in accepted]
        for push in received:
            prefix = prefix_of(push.apns_id)
            if prefix not in known and not self.lost:
                faults.append(("unasked", f"{push.apns_id} belongs to no notification that there is"))
            faults += self.unwanted(push, prefixes.get(prefix))
        return faults + self.after_stops(times)

    def is_test(self, push):
        return any(test.path["app"] == push.topic and test.invoked <= push.at <= (test.answered or push.at)
                   for test in self.tests) and not self.devices.is_known(push.token)

    def after_stops(self, times):
        """After the answer to a stop only as much is sent as it says, until something lets it go on."""
        faults = []
        for place, stops in self.stops.items():
            key = prefix_of(place) if place in self.seen else place
            for request, count in stops:
                resumed = [one.invoked for one in self.resumed[place] if not one.answered or one.answered > request.invoked]
                found = sorted(times[key])
                late = (bisect.bisect_left(found, min(resumed, default=float("inf")))
                        - bisect.bisect_right(found, request.answered))
                if late > count:
                    faults.append(("stopped", f"{late} pushes of {place} came after {request.operation.id} (step "
                                   f"{request.number}) said that {count} are under way"))
        return faults

    def unlike(self, note, answer, deliveries):
        """The counters beside the list."""
        if answer["state"] not in ENDED:
            return []
        found = collections.Counter(delivery["state"] for delivery in deliveries)
        counters = {name: answer["counters"][name] for name in STATES}
        has_erased = any(app == note.app for app, _ in self.erased)
        if any(found[name] > counters[name] or found[name] < counters[name] and not has_erased for name in STATES):
            return [("counters", f"{note.id} counts {counters} and lists {dict(found)}: {answer} {deliveries}")]
        if answer["state"] == "done" and sum(counters.values()) != answer.get("recipients", sum(counters.values())):
            return [("counters", f"{note.id} is done: {counters} for {answer['recipients']} recipients")]
        return []

    def missing(self, note, answer, deliveries):
        """The devices that were in the audience all the time and have no state."""
        is_over = answer["state"] == "done" and answer.get("finishedAtMs")
        if not note.is_simple or not is_over or note.app not in self.world.tokens:
            return []
        end = answer["finishedAtMs"] * 1_000_000 - OFFSET + MARGIN
        listed = {(one.get("token", "")[:8], one.get("environment")) for one in deliveries}
        faults = []
        if "tokens" in note.to:
            # A token that is not registered is sent to in one environment.
            begins = {begin for begin, _ in listed}
            return [("missing", f"{note.id} has no state of its token {token[:12]}…") for token in note.tokens
                    if token[:8] not in begins
                    and not any(app == note.app for app, _ in self.erased)]
        for (app, environment, token), timeline in list(self.devices.timelines.items()):
            # A token that begins with 0 is gone for the push service, and not sent to any more.
            if app != note.app or environment not in note.environments or token.startswith("0"):
                continue
            states = timeline.possible(note.invoked, end)
            is_certain = all(matches(state, note.to) and state.kind == "alert" for state in states)
            if (is_certain and self.stays(timeline, note) and not self.is_erased(app, timeline)
                    and (token[:8], environment) not in listed):
                faults.append(("missing", f"{note.id} to {note.to} has no state of {token[:12]}… in {environment}: "
                                          f"{timeline.text()}, {note.invoked} to {end}"))
        return faults

    @staticmethod
    def stays(timeline, note):
        """Whether a token was that of the same device all the time since: a list shows the token that a device has now."""
        states = timeline.possible(note.invoked, time.monotonic_ns())
        return ABSENT not in states and len({state.identity for state in states}) == 1

    def is_erased(self, app, timeline):
        """Whether a device may have gone with one of its users, and all that was sent to it too."""
        users = {state.user for states in timeline.states for state in states if state != ABSENT}
        return any(place == app and (user in users or UNKNOWN in users) for place, user in self.erased)

    def unwanted(self, push, note):
        """A push to somebody to whom nobody wanted it to be sent."""
        app = push.topic
        if app not in self.world.tokens:
            return []
        if note is None or not note.to:
            return []
        if note.tokens:
            if push.token not in note.tokens:
                return [("stranger", f"{push.apns_id} went to {push.token[:12]}…, which {note.id} does not name")]
            return []
        timeline = self.devices.timelines[app, push.environment, push.token]
        states = timeline.possible(max(note.invoked, push.at - ON_ITS_WAY), push.at)
        name = f"{push.apns_id} of {note.id} to {note.to}, of {note.invoked}, went to {push.token[:12]}… at {push.at}"
        if states == {ABSENT}:
            was_there = any(known != {ABSENT} for known in timeline.states)
            return [("deleted" if was_there else "stranger", f"{name}, which was "
                     f"{'deleted before' if was_there else 'never registered'}: {timeline.text()}")]
        if not note.is_simple:
            return []
        if all(matches(state, note.to) is False or state.kind != "alert" for state in states):
            return [("audience", f"{name}, which is not in it: {timeline.text()}")]
        users = {state.user for state in states if state != ABSENT}
        user = next(iter(users)) if len(users) == 1 else UNKNOWN
        if note.category and user not in (UNKNOWN, None) and self.devices.has_opted_out(
                app, user, note.category, note.invoked, push.at):
            return [("opted out", f"{name}, whose user {user} does not want {note.category}")]
        return []


def same_bytes(one, other):
    """Whether two bodies are the same JSON; None for what is not JSON."""
    try:
        return json.loads(one) == json.loads(other)
    except (TypeError, ValueError):
        return None
