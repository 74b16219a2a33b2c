"""The devices that the provider may know at each moment: a register for each token of each app and environment, with what
the requests since then leave possible."""

import base64
import binascii
import bisect
import collections
import itertools
import re

ABSENT, UNKNOWN = "absent", "unknown"
# A device: some members may be UNKNOWN.
Device = collections.namedtuple("Device", "user tags kind")
# From the moment in which a request was sent it may hold, from that of its answer on it does.
Change = collections.namedtuple("Change", "invoked answered state")
ENVIRONMENTS = ("sandbox", "production")


class Register:
    """A value and its changes."""

    def __init__(self, first):
        # Those that were answered, in that order, and the latest invocation up to each of them; and those that were not.
        self.first, self.changes, self.latest, self.open = first, [], [], []

    def add(self, change):
        if change.answered is None:
            self.open.append(change)
            return
        place = bisect.bisect(self.changes, change.answered, key=lambda one: one.answered)
        self.changes.insert(place, change)
        del self.latest[place:]
        for one in self.changes[place:]:
            self.latest.append(max(one.invoked, self.latest[-1] if self.latest else 0))

    def possible(self, since, until):
        """The values that it may have had at some moment between two."""
        done = bisect.bisect_left(self.changes, since, key=lambda one: one.answered)
        states = {change.state for change in self.open if change.invoked <= until}
        if done == 0:
            states.add(self.first)
            first = 0
        else:
            # What came entirely before a change that was done by then is over.
            first = bisect.bisect_left(self.changes, self.latest[done - 1], key=lambda one: one.answered)
        later = 0
        for change in itertools.islice(self.changes, first, None):
            if change.invoked <= until:
                states.add(change.state)
            else:
                # So many requests are never open at the same time.
                later += 1
                if later > 30:
                    break
        return states


def hexadecimal(text):
    """A token as the push service is told it, of one that is written in hexadecimal or base64; None for what is none."""
    cleaned = re.sub(r"[<> \t\r\n]", "", text)
    if re.fullmatch("([0-9A-Fa-f]{2})+", cleaned):
        return cleaned.lower()
    try:
        return base64.b64decode(cleaned, validate=True).hex()
    except (binascii.Error, ValueError):
        return None


def environment_of(body):
    return {"development": "sandbox", None: "production"}.get(body.get("environment"), body.get("environment"))


class Devices:
    def __init__(self, apps):
        self.apps = apps
        # By app, environment and token; and the opt-outs by app and user.
        self.devices = collections.defaultdict(lambda: Register(ABSENT))
        self.choices = collections.defaultdict(lambda: Register(frozenset()))
        self.installations = collections.defaultdict(set)

    def note(self, request):
        """Takes what an answered request did, or may have done."""
        name, body, app = request.operation.id, request.json, request.path.get("app")
        if request.status is not None and not 200 <= request.status < 300:
            return
        if name == "registerDevice":
            self.register(request, app, body)
        elif name == "registerDevices":
            entries, results = body.get("devices"), (request.answer or {}).get("results", [])
            for place, entry in enumerate(entries if isinstance(entries, list) else []):
                is_done = request.status is None or place < len(results) and results[place].get("result") != "refused"
                if is_done and isinstance(entry, dict):
                    self.register(request, app, entry, len(entries) == 1)
        elif name == "registerSelf":
            self.register(request, app, body, False, f"self {request.path.get('installation')}")
        elif name == "importDevices":
            for token in re.findall(r"[0-9a-f]{64}", (request.body or b"").decode("latin-1")):
                self.change(request, app, token, UNKNOWN)
        elif name == "deleteDevice":
            wanted = request.query.get("environment")
            for environment in ENVIRONMENTS:
                if wanted is None or environment_of({"environment": wanted}) == environment:
                    self.change(request, app, request.path["token"], ABSENT, environment)
        elif name == "deleteSelf":
            for token in self.installations[app, f"self {request.path.get('installation')}"]:
                self.change(request, app, token, UNKNOWN)
        elif name == "deleteUser":
            self.erase(request, app, request.path["user"])
        elif name == "setPreferences":
            chosen = frozenset(body.get("optOuts") or [])
            self.choose(request, app, request.path["user"], chosen)

    def register(self, request, app, body, is_alone=True, installation=None):
        installation = installation or body.get("installation")
        token = hexadecimal(body["token"]) if isinstance(body.get("token"), str) else None
        if token is None:
            return
        if isinstance(installation, str):
            # A changed token replaces the old one, and gets what was known of it.
            others = self.installations[app, installation] - {token}
            self.installations[app, installation].add(token)
            if others:
                for one in others | {token}:
                    self.change(request, app, one, UNKNOWN)
                return
        environment = environment_of(body)
        is_plain = is_alone and "kind" not in body and "activity" not in body and "subscription" not in body
        before = self.devices[app, environment, token].possible(request.invoked, request.answered)
        old = next(iter(before)) if len(before) == 1 else UNKNOWN
        if old == ABSENT:
            old = Device(None, frozenset(), "alert")
        user, tags, kind = old if old != UNKNOWN else (UNKNOWN, UNKNOWN, UNKNOWN)
        user = body["user"] if "user" in body else user
        tags = frozenset(body["tags"]) if isinstance(body.get("tags"), list) else tags
        if "preferences" in body:
            for person in self.users(app) | ({user} if isinstance(user, str) else set()):
                self.choose(request, app, person, UNKNOWN)
        kind = kind if is_plain else UNKNOWN
        self.change(request, app, token, Device(user, tags, kind) if is_alone else UNKNOWN, environment)

    def change(self, request, app, token, state, environment=None):
        answered = request.answered if request.status is not None else None
        for one in [environment] if environment else ENVIRONMENTS:
            self.devices[app, one, token.lower()].add(Change(request.invoked, answered, state))

    def choose(self, request, app, user, chosen):
        answered = request.answered if request.status is not None else None
        self.choices[app, user].add(Change(request.invoked, answered, chosen))

    def users(self, app):
        return {user for place, user in self.choices if place == app}

    def erase(self, request, app, user):
        for (place, environment, token), register in list(self.devices.items()):
            if place != app:
                continue
            states = register.possible(request.invoked, request.answered)
            users = {UNKNOWN if state == UNKNOWN else state.user for state in states if state != ABSENT}
            if users == {user} and request.status == 200:
                self.change(request, app, token, ABSENT, environment)
            elif user in users or UNKNOWN in users:
                self.change(request, app, token, UNKNOWN, environment)
        self.choose(request, app, user, UNKNOWN)

    def is_known(self, token):
        return any(token == other for _, _, other in self.devices)

    def had_device(self, app, user, since, until):
        """Whether a device was a user's all the time between two moments. One whose token is gone does not count."""
        return any(place == app and not token.startswith("0") and all(
            isinstance(state, Device) and state.user == user for state in register.possible(since, until))
            for (place, _, token), register in list(self.devices.items()))

    def possible(self, app, environment, token, since, until):
        return self.devices[app, environment, token].possible(since, until)

    def has_opted_out(self, app, user, category, since, until):
        """Whether a user did not want a category all the time."""
        chosen = self.choices[app, user].possible(since, until)
        return all(one != UNKNOWN and category in one for one in chosen)


def matches(device, to):
    """Whether a device belongs to a simple audience; None if that is not known."""
    if device in (ABSENT, UNKNOWN):
        return False if device == ABSENT else None
    (name, value), = to.items()
    if name == "all":
        return True
    if name == "user":
        return None if device.user == UNKNOWN else device.user == value
    if name == "tag":
        return None if device.tags == UNKNOWN else value in device.tags
    return None
