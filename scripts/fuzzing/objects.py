"""What things are after the requests that changed them: a register for each, with every order that explains the answers."""

import collections
import functools
import json
import threading

import rules
from erasure import Erasures, taken
from forms import is_kept
from linear import Operation, ends
from registers import ABSENT, UNKNOWN
from world import APPS, CALM_USERS, LIMITED

CHANGED_NOTHING = (400, 401, 403, 405, 409, 412, 413, 415, 429, 503)


class Kind:
    """A kind of thing; `members` are those that nothing but a request changes, `roles` what operations do to it."""

    def __init__(self, name, parameters, members, only=lambda path: True, **roles):
        """`only` picks the paths of those that nothing else changes."""
        self.name, self.parameters, self.members, self.only, self.roles = name, parameters, members, only, {}
        for role, operations in roles.items():
            for operation in operations.split():
                self.roles[operation] = role
        self.is_single = "create" not in self.roles.values()


KINDS = [
    Kind("webhook", ["webhook"], ["url", "active", "events"], create="addWebhook", read="showWebhook",
         patch="changeWebhook enableWebhook", delete="deleteWebhook"),
    Kind("person", ["person"], ["name", "role", "apps", "language", "disabled"], create="addPerson", read="getPerson",
         patch="changePerson", delete="deletePerson"),
    Kind("key", ["key"], ["name", "scopes", "apps", "rate", "expiresAt"], create="addKey", patch="changeKey",
         delete="deleteKey"),
    Kind("audience", ["audience"], ["name", "description", "audience", "version"], create="addAudience",
         read="showAudience", write="saveAudience restoreAudience", delete="deleteAudience"),
    Kind("template", ["template"], ["name", "description", "content", "version"], create="addTemplate",
         read="showTemplate", write="saveTemplate restoreTemplate", delete="deleteTemplate"),
    Kind("schedule", ["schedule"], ["name", "schedule", "paused", "notification"], create="addSchedule",
         read="showSchedule", write="changeSchedule", patch="pauseSchedule resumeSchedule", delete="deleteSchedule"),
    Kind("publication", ["publication"], ["name", "account", "subscriptionProducts", "waves"], create="addPublication",
         read="showPublication", patch="changePublication", delete="deletePublication"),
    Kind("issue", ["issue"], ["title", "number", "date", "productId", "access", "state"], create="addIssue",
         read="showIssue", patch="changeIssue publishIssue withdrawIssue setCover deleteCover setRendition deleteRendition",
         delete="deleteIssue"),
    Kind("upload", ["upload"], ["size", "sha256", "name"], create="beginUpload", read="showUpload",
         delete="deleteUpload"),
    Kind("app", ["app"], ["name", "rate", "cap", "receipts", "installationTags", "installationAttributes"],
         read="showApp", patch="changeApp"),
    Kind("entitlement server", ["app"], ["url", "form", "whenDown"], read="showEntitlementServer",
         write="setEntitlementServer", delete="removeEntitlementServer"),
    Kind("bridge", ["app", "kind", "bridge"], ["environment", "settings"], read="showBridge", write="setBridge",
         delete="removeBridge"),
    Kind("preferences", ["app", "user"], ["optOuts", "quietHours"], lambda path: path["user"] in CALM_USERS,
         read="showPreferences", write="setPreferences"),
    Kind("badge", ["app", "user"], ["count"], lambda path: path["user"] in CALM_USERS, read="showBadge", write="setBadge"),
    Kind("vapid", ["app"], ["contact"], read="showVapid", write="setVapid", patch="rotateVapid"),
    Kind("chat session", ["chatSession"], ["server", "account", "port", "protocol", "user"], create="addChatSession",
         read="showChatSession", patch="stopChatSession resumeChatSession", delete="deleteChatSession"),
]
# What a change without members changes, by what it is called.
CHANGED = {"pauseSchedule": {"paused": True}, "resumeSchedule": {"paused": False}, "enableWebhook": {"active": True},
           "publishIssue": {"state": "published"}, "withdrawIssue": {"state": "withdrawn"}}
# These name what they change in another way, and what comes of it is not in the request.
ELSEWHERE = {"restoreAudience", "restoreTemplate", "setCover", "deleteCover", "setRendition", "deleteRendition", "rotateVapid",
             "stopChatSession", "resumeChatSession"}
# They change more than what their paths name.
DISTURBING = {"deleteApp", "deleteUser", "deletePublication", "addApp", "stopOwnChatSession", "deleteOwnChatSession",
              "resumeOwnChatSession", "saveAudience", "restoreAudience", "deleteAudience", "saveTemplate", "restoreTemplate",
              "deleteTemplate"}
# These are missing within something that is there.
PARTS = ("no_such_version", "no_such_rendition", "no_such_file", "no_such_cover")
# What a member of a request is called in answers.
ALIASES = {"expiresIn": "expiresAt"}
LISTS = {"listWebhooks": ("webhook", "webhooks"), "listPeople": ("person", "people"), "listKeys": ("key", "keys"),
         "listAudiences": ("audience", "audiences"), "listTemplates": ("template", "templates"),
         "listSchedules": ("schedule", "schedules"), "listPublications": ("publication", "publications"),
         "listChatSessions": ("chat session", "sessions")}
# The kinds that belong to no app: their lists are of all.
GLOBAL = {"person", "key"}


def shown(kind, answer):
    return tuple((name, json.dumps(answer.get(name), sort_keys=True)) for name in kind.members)


def never(*_):
    return False


def step(state, operation, may_be=never):
    """For linear.ends: a state is what is shown, ABSENT or UNKNOWN; results are a status and what was shown. `may_be` says
    whether something else may have made one state another before the request."""
    status, seen = operation.result
    if status is None:
        return state
    if status in CHANGED_NOTHING:
        return state
    if status == 404:
        return ABSENT if state in (ABSENT, UNKNOWN) or may_be(state, ABSENT) else None
    if operation.name == "delete":
        return ABSENT if state != ABSENT else None
    if seen is None:
        # What was answered is judged elsewhere.
        return state
    if operation.name in ("write", "create"):
        if status == 201 and operation.name == "write" and state not in (ABSENT, UNKNOWN):
            return None
        return seen
    if state == ABSENT:
        return None
    if state == UNKNOWN:
        return seen
    changed = frozenset() if operation.name == "read" else operation.argument
    expected = tuple(new if old[0] in changed else old for old, new in zip(state, seen))
    return seen if seen == expected or may_be(expected, seen) else None


def waits(server):
    """Whether an app's setting for a publisher's server that is silent leaves it open who is entitled."""
    return json.loads(server["whenDown"]) != "refuse"


def is_sold(issue, product):
    """Whether an issue is one that readers have to be entitled to."""
    return [json.loads(issue[name]) for name in ("productId", "access", "state")] == [product, "retail", "published"]


def explained(history, states, may_be=never):
    """The states in which a history can end that began in one of several, and the operation that nothing explains."""
    after, stuck = set(), None
    for state in states:
        found, place = ends(history, state, functools.partial(step, may_be=may_be))
        after |= found
        stuck = stuck or place
    return after, stuck


class Thing:
    def __init__(self, kind, key, app, state):
        self.kind, self.key, self.app, self.states = kind, key, app, {state}
        self.history, self.changed = [], 0
        # The publication of an issue.
        self.parent = None
        # When the earliest of the requests was sent that showed it last.
        self.since = 0
        # Other requests that may change it and are not answered yet, and when the last of them was.
        self.disturbers, self.disturbed = 0, 0


class Objects:
    def __init__(self, complain):
        self.complain, self.things, self.lock = complain, {}, threading.Lock()
        self.by_operation = {}
        for kind in KINDS:
            for operation in kind.roles:
                self.by_operation.setdefault(operation, []).append(kind)
        self.orders = 0
        # How many requests name something and are not answered yet, by its key: a list may bring its id before it is known here.
        self.flying = collections.Counter()
        # When something was changed whose making was not answered yet, by its key.
        self.early = {}
        # The requests under way that change more than what their paths name, and the last ones that were answered.
        self.disturbing, self.disturbed = [], collections.deque(maxlen=100)
        # When the deletion of an app was answered.
        self.deleted = {}
        # Until when something without an app in its path may still go with an app, or a user.
        self.loose = 0
        # The erasures of users, and the requests that only these explain.
        self.erasures, self.erased = Erasures(), []
        # The products of issues of which nothing else is known.
        self.missed = set()

    def key_of(self, kind, path):
        return (kind.name, *(path[name] for name in kind.parameters))

    def begin(self, request):
        """Before a request is sent."""
        with self.lock:
            if request.operation.id == "deleteUser":
                self.erasures.requests.append(request)
            if request.operation.id in DISTURBING:
                request.disturbed = []
                self.disturbing.append(request)
                for thing in self.things.values():
                    self.await_disturber(thing, request)
            for kind in self.by_operation.get(request.operation.id, []):
                if kind.roles[request.operation.id] == "create" or not kind.only(request.path):
                    continue
                key = self.key_of(kind, request.path)
                self.flying[key] += 1
                if key not in self.things and kind.is_single:
                    self.add(Thing(kind, key, request.path.get("app"), UNKNOWN))

    def add(self, thing):
        """What is new may go with what is deleted at the same time."""
        self.things[thing.key] = thing
        for request in self.disturbing:
            self.await_disturber(thing, request)

    def await_disturber(self, thing, request):
        if self.is_disturbed(thing, request):
            thing.disturbers += 1
            request.disturbed.append(thing)

    def end(self, request):
        """After its answer."""
        with self.lock:
            if request.operation.id == "changeKey" and request.is_valid and request.code in ("invalid_scopes", "invalid_value"):
                self.check_public(request)
            for kind in self.by_operation.get(request.operation.id, []):
                role = kind.roles[request.operation.id]
                if role == "create":
                    self.create(kind, request)
                elif kind.only(request.path):
                    self.take(kind, role, request)
            if request.operation.id in DISTURBING:
                self.disturb(request)
            self.check_change(request)
            if request.operation.id == "downloadIssue" and request.status == 503 and (
                    request.code == "entitlement_unavailable" and not self.may_be_undecided(request)):
                self.complain(request, "undecided", "no publisher's server is asked, or its silence is a refusal")
            if request.operation.id == "deletePublication":
                self.deleted[None] = request.answered
            if request.operation.id == "deleteApp" and request.status in (200, 202):
                self.deleted[request.path["app"]] = self.deleted[None] = request.answered
            if request.operation.id in ("deleteApp", "deleteUser") and request.status in (None, 202):
                self.loose = request.answered + 10_000_000_000
            if request.operation.id == "deleteApp" and request.status in (200, 202) or (
                    request.operation.id == "deleteUser" and request.status in (None, 202)):
                # It goes on after the answer.
                self.things = {key: thing for key, thing in self.things.items()
                               if not self.is_disturbed(thing, request) or thing.kind.name in GLOBAL}
            if request.operation.id in LISTS and request.status == 200:
                self.check_list(request)

    def check_change(self, request):
        """The answer to a change shows what was asked for; that later answers agree with it is judged by their order."""
        if request.status not in (200, 201, 202) or not isinstance(request.answer, dict):
            return
        for kind in self.by_operation.get(request.operation.id, []):
            if kind.roles[request.operation.id] not in ("create", "write", "patch") or request.operation.id in ELSEWHERE:
                continue
            asked = CHANGED.get(request.operation.id) or request.json
            for name in kind.members:
                if name in asked and name != "version" and not is_kept(name, asked[name], request.answer.get(name)):
                    self.complain(request, "change", f"{name} of a {kind.name} is {request.answer.get(name)!r} after it "
                                  f"was changed to {asked[name]!r}")

    def check_public(self, request):
        """Only a key that is in every copy of an app is refused other scopes, or all apps; no other key gets its scope."""
        key, field = self.things.get(("key", request.path["key"])), request.answer["error"].get("field")
        is_refused = field == "apps" or field == "scopes" and not rules.is_public(rules.Asked(request, "scopes"))
        if is_refused and key and not self.may_be(
                key, request, lambda state: "registerSelf" in (json.loads(state["scopes"]) or [])):
            self.complain(request, "valid refused", f"{request.code} {field}: the key is no public one")

    def may_be_undecided(self, request):
        """Whether a publisher's server may decide about a download that does not answer: that of nobody does here
        (docs/entitlement.md)."""
        app, product = request.path["app"], request.path["productId"]
        is_asked = any(request.json.get(name) is not None for name in ("account", "authToken"))
        server = self.things.get(("entitlement server", app))
        issues = [thing for thing in self.things.values() if thing.kind.name == "issue" and self.may_belong(thing, app)]
        return is_asked and server is not None and self.may_be(server, request, waits) and (
            product in self.missed
            or any(self.may_be(issue, request, lambda state: is_sold(state, product)) for issue in issues))

    def may_belong(self, issue, app):
        """Whether an issue may be one of an app: of a publication whose making was not seen nobody knows."""
        return self.app_of(issue) in (None, app)

    def app_of(self, thing):
        """The app of a thing; None if it is not known, or if there is none."""
        publication = self.things.get(("publication", thing.parent))
        return thing.app or publication and publication.app

    def may_be(self, thing, request, test):
        """Whether a thing may have been in such a state during a request; anything is possible while others change it."""
        others = self.flying[thing.key] - (thing.kind.roles.get(request.operation.id, "create") != "create")
        is_changing = others or thing.disturbers or max(thing.changed, thing.disturbed) >= request.invoked
        return is_changing or any(state == UNKNOWN or state != ABSENT and test(dict(state)) for state in thing.states)

    def create(self, kind, request):
        if request.status not in (200, 201) or not isinstance(request.answer, dict):
            return
        if request.invoked <= max(self.deleted.get(request.path.get("app"), 0), self.deleted.get(None, 0)):
            # It went with its app, or with the publication, or neither.
            self.missed.add(request.answer.get("productId"))
            return
        if "app" not in request.path and kind.name not in GLOBAL and request.invoked <= self.loose:
            return
        key = (kind.name, request.answer.get("id"))
        if key in self.things and self.things[key].states != {UNKNOWN}:
            return self.complain(request, "again", f"the id of another {kind.name} is given to a new one")
        thing = Thing(kind, key, request.path.get("app"), shown(kind, request.answer))
        thing.since, thing.changed, thing.parent = request.invoked, request.answered, request.path.get("publication")
        if self.early.pop(key, 0) or any(
                other.answered >= request.invoked and self.is_disturbed(thing, other) for other in self.disturbed):
            # Whoever found it in a list, or took it with something else, did so after it was made.
            thing.states = {UNKNOWN}
        self.add(thing)

    def take(self, kind, role, request):
        key = self.key_of(kind, request.path)
        self.flying[key] -= 1
        if not self.flying[key]:
            del self.flying[key]
        thing = self.things.get(key)
        if thing is None:
            if role != "read" and request.status not in (*CHANGED_NOTHING, 404):
                self.early[key] = request.answered
            return
        is_elsewhere = request.key in LIMITED and self.app_of(thing) is not None and self.app_of(thing) not in APPS
        deleted = max(thing.disturbed, self.deleted.get(thing.app, 0) if thing.app else 0)
        if thing.disturbers or request.invoked <= deleted or request.code == "no_such_app" and not is_elsewhere:
            thing.states, thing.history = {UNKNOWN}, []
            return
        is_shown = request.status in (200, 201, 202) and isinstance(request.answer, dict)
        seen = shown(kind, request.answer) if is_shown else None
        argument = frozenset(ALIASES.get(name, name) for name in CHANGED.get(request.operation.id) or request.json)
        if request.status is None and role != "read":
            # It may have been carried out or not.
            thing.states = {UNKNOWN}
            thing.history = []
            return
        # What belongs to another app is not there for a key that is limited to some.
        status = 409 if request.code in PARTS or is_elsewhere and request.status == 404 else request.status
        if is_elsewhere and seen and self.app_of(thing):
            self.complain(request, "open", f"{thing.key} of {self.app_of(thing)} is shown to a key of other apps")
        thing.history.append(Operation(request.invoked, request.answered, role, argument, (status, seen)))
        if role != "read":
            thing.changed = request.answered
        self.settle(thing, request)

    def settle(self, thing, request):
        if self.flying[thing.key]:
            return
        self.orders += len(thing.history) > 1
        after, stuck = explained(thing.history, thing.states)
        if not after:
            users = self.erasures.users(thing.app, thing.since, request.answered)
            if users:
                after, _ = explained(thing.history, thing.states, taken(thing, users))
            if after:
                self.erased.append((request, thing, thing.history, thing.states, thing.since, users))
        if not after:
            self.complain(request, "order", f"no order of {len(thing.history)} requests to {thing.key} explains "
                          f"{stuck}; before them it was {sorted(map(str, thing.states))[:2]}")
            after = {UNKNOWN}
        shown = [operation.invoked for operation in thing.history if operation.result[1] is not None]
        thing.since = min(shown, default=thing.since)
        thing.states, thing.history = after, []

    def finish(self, devices):
        """An erasure takes nothing any more from a user who has come back: that is another one."""
        for request, thing, history, states, since, users in self.erased:
            back = {user for user in users if self.erasures.have_ended(thing.app, user)
                    and devices.had_device(thing.app, user, since, request.answered)}
            if back and not explained(history, states, taken(thing, users - back))[0]:
                self.complain(request, "order", f"{thing.key} went with an erased user, though {sorted(back)} had come back; "
                              f"before it was {sorted(map(str, states))[:2]}")

    def disturb(self, request):
        """What other requests change as well is not known any more."""
        self.disturbing.remove(request)
        self.disturbed.append(request)
        for thing in request.disturbed:
            thing.disturbers -= 1
        for thing in self.things.values():
            if thing in request.disturbed or self.is_disturbed(thing, request):
                thing.states, thing.history, thing.disturbed = {UNKNOWN}, [], request.answered

    @staticmethod
    def is_disturbed(thing, request):
        app, user, name = request.path.get("app"), request.path.get("user"), request.operation.id
        if name in ("audience", "template") or thing.kind.name in ("audience", "template") and name in thing.kind.roles:
            # An item of a library answers to its name too, and an item that is new may take a name.
            return thing.app == app and request.path.get(thing.kind.name) != thing.key[1]
        if name == "deleteUser":
            return thing.app == app and (user in thing.key or thing.kind.name in ("chat session", "schedule", "audience"))
        if name == "deletePublication":
            return thing.kind.name == "issue"
        if name == "addApp":
            return thing.kind.name == "app"
        if name in ("stopOwnChatSession", "deleteOwnChatSession", "resumeOwnChatSession"):
            return thing.kind.name == "chat session"
        return thing.app in (app, None) or thing.kind.name in GLOBAL

    def check_list(self, request):
        name, member = LISTS[request.operation.id]
        if request.query or request.answer.get("next"):
            return
        listed = {item.get("id") for item in request.answer.get(member, [])}
        for thing in self.things.values():
            if thing.kind.name != name or self.flying[thing.key] or thing.changed >= request.invoked or (
                    UNKNOWN in thing.states or thing.disturbers or thing.disturbed >= request.invoked):
                continue
            if name not in GLOBAL and thing.app != request.path.get("app"):
                continue
            if thing.states == {ABSENT} and thing.key[1] in listed:
                self.complain(request, "list", f"{thing.key} is listed after it was deleted")
            users = self.erasures.users(thing.app, thing.since, request.answered)
            if thing.key[1] not in listed and not any(
                    state == ABSENT or users and taken(thing, users)(state, ABSENT) for state in thing.states):
                self.complain(request, "list", f"{thing.key} is not listed")
