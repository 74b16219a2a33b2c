"""Notifications: what was asked to be sent, what the API says of it, and what the push service received."""

import collections
import json
import re
import threading
import time

from apns_id import prefix_of

ENDED = ("done", "cancelled")
STATES = ("accepted", "rejected", "failed", "skipped", "unknown")


class Note:
    """One that was answered 202; `shown` is what the API said last, and when that was asked and answered."""

    def __init__(self, request, identity):
        self.id, self.app, self.invoked, self.answered = identity, request.path.get("app"), request.invoked, request.answered
        to = request.json.get("to")
        self.tokens = set(to["tokens"]) if isinstance(to, dict) and isinstance(to.get("tokens"), list) else set()
        self.shown, self.cancelled = [], None


class Notes:
    def __init__(self, world, complain):
        self.world, self.complain, self.lock = world, complain, threading.Lock()
        self.notes, self.keys = {}, {}
        # By app and token: when registrations were sent, and when deletions were answered.
        self.registered, self.deleted = collections.defaultdict(list), collections.defaultdict(list)
        self.pushes = 0
        # Where users were erased, and their deliveries with them.
        self.erased = set()

    def begin(self, request):
        """A registration counts from the moment in which it is sent."""
        with self.lock:
            for token in self.tokens_of(request):
                self.registered[request.path["app"], token.lower()].append(request.invoked)

    @staticmethod
    def tokens_of(request):
        body = request.json
        if request.operation.id in ("registerDevice", "registerSelf"):
            found = [body.get("token")]
        elif request.operation.id == "registerDevices" and isinstance(body.get("devices"), list):
            found = [device.get("token") for device in body["devices"] if isinstance(device, dict)]
        elif request.operation.id == "importDevices" and request.body:
            found = re.findall(r"[0-9a-f]{64}", request.body.decode("latin-1"))
        else:
            found = []
        return [token for token in found if isinstance(token, str)]

    def end(self, request):
        name = request.operation.id
        with self.lock:
            if name == "deleteUser":
                self.erased.add(request.path["app"])
            if name == "deleteDevice" and request.status == 204 and not request.query:
                self.deleted[request.path["app"], request.path["token"].lower()].append(request.answered)
            if name in ("send", "broadcast", "resendNotification") and request.status == 202:
                self.take(request)
            if name == "showNotification" and request.status == 200:
                self.look(request, request.answer)
            if name in ("cancelNotification", "pauseNotification", "resumeNotification") and request.status == 200:
                self.look(request, request.answer)
                if name == "cancelNotification" and (note := self.notes.get(request.answer["id"])):
                    note.cancelled = request.answered

    def take(self, request):
        identity = request.answer["id"]
        key = request.headers.get("idempotency-key")
        if key:
            place = request.path.get("app"), key
            known = self.keys.setdefault(place, (identity, request.body, request.operation.id))
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
        note = self.notes.get(answer["id"])
        if note is None:
            return
        counters = answer["counters"]
        told = request.invoked, request.answered, answer["state"], {name: counters[name] for name in STATES}
        total = sum(counters[name] for name in STATES)
        if total > answer.get("recipients", total):
            self.complain(request, "counters", f"{note.id}: {counters} for {answer['recipients']} recipients")
        for invoked, answered, state, before in note.shown[-20:]:
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

    def finish(self, seconds):
        """Waits for what has begun, then compares the ledger with what was received."""
        provider, faults = self.world.provider, []
        self.wait(seconds)
        received = list(self.world.service.received)
        self.pushes = len(received)
        by_id = collections.Counter(push.apns_id for push in received)
        accepted, prefixes = set(), {prefix_of(identity): note for identity, note in self.notes.items()}
        for note in list(self.notes.values()):
            status, answer = provider.call("GET", f"/v1/notifications/{note.id}")
            if status == 404:
                continue
            deliveries = provider.deliveries(note.id)
            faults += self.unlike(note, answer, deliveries)
            for delivery in deliveries:
                if delivery["state"] == "accepted":
                    accepted.add(delivery["apnsId"].lower())
                    if not by_id[delivery["apnsId"].lower()] and delivery.get("endpoint") is None:
                        faults.append(("lost", f"{delivery['apnsId']} of {note.id} is accepted and was never received"))
        faults += [("doubled", f"{pushed} was received {count} times") for pushed, count in by_id.items()
                   if count > 1 and pushed in accepted]
        for push in received:
            faults += self.unasked(push, prefixes.get(prefix_of(push.apns_id)))
        return faults

    def wait(self, seconds):
        """Until what has begun has ended; nothing is paused any more."""
        provider = self.world.provider
        for app in self.world.tokens:
            provider.call("POST", f"/v1/apps/{app}:resume")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            going = [note for app in self.world.tokens for note in provider.must(
                "GET", f"/v1/apps/{app}/notifications?limit=1000&state=sending")["notifications"]
                if note["id"] in self.notes]
            if not going:
                break
            time.sleep(0.3)

    def unlike(self, note, answer, deliveries):
        """The counters beside the list."""
        if answer["state"] not in ENDED:
            return []
        found = collections.Counter(delivery["state"] for delivery in deliveries)
        counters = {name: answer["counters"][name] for name in STATES}
        if any(found[name] > counters[name] or found[name] < counters[name] and note.app not in self.erased
               for name in STATES):
            return [("counters", f"{note.id} counts {counters} and lists {dict(found)}: {answer} {deliveries}")]
        if answer["state"] == "done" and sum(counters.values()) != answer.get("recipients", sum(counters.values())):
            return [("counters", f"{note.id} is done: {counters} for {answer['recipients']} recipients")]
        return []

    def unasked(self, push, note):
        """A push that nobody asked for."""
        if note is None:
            # A schedule or an issue made it, or a request whose answer was lost.
            return []
        if push.token in {token.lower() for token in note.tokens}:
            return []
        place = push.topic.removesuffix(".voip"), push.token
        if push.topic in self.world.tokens and not self.registered[place]:
            return [("stranger", f"{push.apns_id} went to {push.token[:12]}…, which was never registered")]
        gone = [at for at in self.deleted[place] if at < note.invoked]
        if gone and not any(at > max(gone) - 5e9 for at in self.registered[place] if at < push.at):
            return [("deleted", f"{push.apns_id} went to {push.token[:12]}…, deleted before it was asked for")]
        return []


def same_bytes(one, other):
    """Whether two bodies are the same JSON; None for what is not JSON."""
    try:
        return json.loads(one) == json.loads(other)
    except (TypeError, ValueError):
        return None
