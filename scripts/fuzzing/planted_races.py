"""Faults beside which something lawful looks the same: a lawful one that is complained about fails the self-test too."""

import json
import time

from basics import fail
from client import Step
from devices import Devices
from planting import TOKEN, USER, ask, status
from world import APPS, DOOMED, to_json

APP, GONE = {"app": APPS[0]}, {"app": DOOMED[0]}
UNHEARD_OF = "00000000-0000-4000-8000-0000000000"


class Lawful:
    """What is done within is no fault."""

    def __init__(self, run):
        self.run = run

    def __enter__(self):
        self.before = len(self.run.findings)

    def __exit__(self, *_):
        if found := self.run.findings[self.before:]:
            self.run.findings.clear()
            fail(f"this is no fault: {found[0].kind} {found[0].text}")


# Only the model is told these, in an order that two workers would rarely come to.

def begin(run, operation, key="admin", body=None, **path):
    request = Step(operation=run.document.operations[operation], path=path, query={}, headers={}, number=0, key=key,
                   body=body and to_json(body), invoked=time.monotonic_ns())
    run.objects.begin(request)
    return request


def end(run, request, code, answer=None):
    request.answered, request.status, request.answer = time.monotonic_ns(), code, answer
    run.objects.end(request)


def tell(run, operation, code, answer=None, key="admin", body=None, **path):
    end(run, begin(run, operation, key, body, **path), code, answer)


def gone_with_nothing(run):
    """A publication that is made while its app is deleted goes with it, and stays otherwise."""
    one, other = UNHEARD_OF + "01", UNHEARD_OF + "02"
    with Lawful(run):
        deletion = begin(run, "deleteApp", **GONE)
        tell(run, "addPublication", 201, {"id": one, "name": "planted"}, **GONE)
        tell(run, "showPublication", 404, publication=one)
        end(run, deletion, 200, {"state": "erased", "underWay": 0})
    tell(run, "addPublication", 201, {"id": other, "name": "planted"}, **APP)
    tell(run, "showPublication", 404, publication=other)


def taken_from_a_list(run):
    """What a list has shown is read and deleted before the answer to its making came: the reading may come before the deletion,
    though not after its answer."""
    one, shown = UNHEARD_OF + "03", {"id": UNHEARD_OF + "03", "size": 1, "sha256": "", "name": "planted"}
    with Lawful(run):
        making = begin(run, "beginUpload", **APP)
        deletion = begin(run, "deleteUpload", upload=one)
        end(run, making, 201, shown)
        reading = begin(run, "showUpload", upload=one)
        end(run, deletion, 204)
        end(run, reading, 200, shown)
    tell(run, "showUpload", 200, shown, upload=one)


def deleted_from_a_list(run):
    """The same, whose deletion was answered before its making."""
    one, other = ({"id": UNHEARD_OF + number, "size": 1, "sha256": "", "name": "planted"} for number in ("04", "05"))
    with Lawful(run):
        making = begin(run, "beginUpload", **APP)
        tell(run, "deleteUpload", 204, upload=one["id"])
        end(run, making, 201, one)
        tell(run, "showUpload", 404, upload=one["id"])
    tell(run, "beginUpload", 201, other, **APP)
    tell(run, "showUpload", 404, upload=other["id"])


def shown_to_others(run):
    """A key that is limited to other apps does not find it, and that says nothing of it."""
    one, shown = UNHEARD_OF + "08", {"id": UNHEARD_OF + "08", "size": 1, "sha256": "", "name": "planted"}
    with Lawful(run):
        tell(run, "beginUpload", 201, shown, **GONE)
        for key, code, answer in (("read", 404, None), ("admin", 200, shown), ("read", 404, None), ("admin", 200, shown)):
            tell(run, "showUpload", code, answer, key, upload=one)
    tell(run, "showUpload", 200, shown, "read", upload=one)


def missing_from_its_own(run):
    """The same key finds what belongs to one of its apps."""
    one, shown = UNHEARD_OF + "09", {"id": UNHEARD_OF + "09", "size": 1, "sha256": "", "name": "planted"}
    with Lawful(run):
        tell(run, "beginUpload", 201, shown, **APP)
        tell(run, "showUpload", 200, shown, "read", upload=one)
    tell(run, "showUpload", 404, None, "read", upload=one)


class Apart:
    """As a run, with a model of devices that nobody else tells anything."""

    def __init__(self, run):
        self.document, self.objects = run.document, Devices([APPS[0]], lambda _: [], run.complain)


ERASED, ERASING = (200, {"state": "erased", "underWay": 0}), (202, {"state": "erasing", "underWay": 0})
# The moments at which a device is registered beside two erasures of its user, of which the second begins before the first ends.
BEFORE, BETWEEN, ANSWERED, AFTER = range(4)


def erase_twice(run, registered, first, second, is_shown):
    """Both with their answers, and whether the device is shown in the end."""
    told, erasure, device = Apart(run), {**APP, "user": USER}, {"token": TOKEN, "environment": "sandbox", "user": USER}
    shown = {**device, "kind": "alert", "tags": []}

    def at(moment):
        if moment == registered:
            tell(told, "registerDevice", 201, shown, body=device, **APP)

    at(BEFORE)
    one = begin(told, "deleteUser", **erasure)
    at(BETWEEN)
    other = begin(told, "deleteUser", **erasure)
    end(told, one, *first)
    at(ANSWERED)
    end(told, other, *second)
    at(AFTER)
    answer = (200, {"devices": [shown]}) if is_shown else (404, {"error": {"code": "no_such_device"}})
    tell(told, "showDevice", *answer, token=TOKEN, **APP)


def taken_after_erasures(run):
    """A device that comes while an erasure is under way may be from before it or after. One that comes after both answers stays,
    also if the second erasure goes on."""
    with Lawful(run):
        for moment in (BETWEEN, ANSWERED):
            for is_shown in (False, True):
                erase_twice(run, moment, ERASED, ERASED, is_shown)
        erase_twice(run, AFTER, ERASED, ERASING, True)
    erase_twice(run, AFTER, ERASED, ERASING, False)


def kept_by_erasures(run):
    """A device from before both is gone with the first answer that says so, whatever the second one still does."""
    with Lawful(run):
        for is_shown in (False, True):
            erase_twice(run, BEFORE, ERASING, ERASING, is_shown)
        for second in (ERASED, ERASING):
            erase_twice(run, BEFORE, ERASED, second, False)
    erase_twice(run, BEFORE, ERASED, ERASING, True)


# These are asked, and some of the answers are changed.

def repeated_key(run):
    """With an app, or a user whose alone a notification is, its key goes."""
    def send(app, to):
        return ask(run, "send", {"app": app}, {"to": to, "alert": "planted"}, {"idempotency-key": "planted"})

    with Lawful(run):
        run.world.provider.add_app(DOOMED[0])
        first = send(DOOMED[0], {"tag": "planted"})
        while ask(run, "deleteApp", GONE)["state"] != "erased":
            pass
        run.world.provider.add_app(DOOMED[0])
        second = send(DOOMED[0], {"tag": "planted"})
        if first["id"] == second["id"] or send(DOOMED[0], {"tag": "planted"})["id"] != second["id"]:
            fail("a key of an app that was deleted is known, or a repeated one is not")
    run.falsify = lambda request, content: (
        request.status, json.dumps({**json.loads(content), "id": UNHEARD_OF + "06"}).encode())
    send(DOOMED[0], {"tag": "planted"})


def put(run, **members):
    run.falsify = lambda request, content: (request.status, json.dumps({**json.loads(content), **members}).encode())


def another_duration(run):
    with Lawful(run):
        for window in ("09d", "9d", "216h", "0172800s"):
            ask(run, "changeApp", APP, {"cap": {"count": 1, "window": window}})
    put(run, cap={"count": 1, "window": "8d"})
    ask(run, "changeApp", APP, {"cap": {"count": 1, "window": "09d"}})


def another_time_of_day(run):
    calm = {**APP, "user": "calm-1"}
    with Lawful(run):
        for until in ("13:39:00", "13:39", "13:39:07"):
            ask(run, "setPreferences", calm, {"quietHours": {"from": "22:00", "to": until}})
    put(run, quietHours={"from": "22:00", "to": "13:39:01"})
    ask(run, "setPreferences", calm, {"quietHours": {"from": "22:00", "to": "13:39:00"}})


def another_time(run):
    """Numbers from 10^11 on are milliseconds."""
    def add(until):
        ask(run, "addSchedule", APP, {"name": f"planted {until}", "notification": {"to": {"user": "calm-1"}, "alert": "planted"},
                                      "schedule": {"cron": "0 9 * * mon-fri", "timeZone": "UTC", "until": until}})

    with Lawful(run):
        for until in (253402300799999, 4102444800000, 4102444800, "9999-12-31T23:59:59.999Z", "9999-12-31t23:59:59.1239z",
                      "9999-12-31T23:59Z"):
            add(until)
    put(run, schedule={"cron": "0 9 * * mon-fri", "timeZone": "UTC", "until": "9999-12-31T23:59:59.998Z"})
    add(253402300799999)


def another_number(run):
    with Lawful(run):
        for number in (10 ** 30, 1e30, 2 ** 63, 2 ** 63 - 1, 17, 17.0):
            ask(run, "saveAudience", {**APP, "audience": "planted"}, {"audience": {"attribute": "city", "is": number}})
    put(run, audience={"attribute": "city", "is": 1e29})
    ask(run, "saveAudience", {**APP, "audience": "planted"}, {"audience": {"attribute": "city", "is": 10 ** 30}})


def refuse(run, field, code="invalid_value"):
    error = {"code": code, "message": "it is planted", "field": field}
    run.falsify = status((200, 201, 202, 400, 401, 403, 404), 400, json.dumps({"error": error}).encode())


def host_that_is_one(run):
    def add(server):
        refuse(run, "server")
        ask(run, "addChatSession", APP, {"protocol": "irc", "account": "n", "password": "p", "user": "alice", "server": server})

    with Lawful(run):
        for server in ("m" * 64, f"{'m' * 63}." * 4 + "example", "a..example", "chat.example.1"):
            add(server)
    add(f"{'m' * 63}.example")


def setting_of_none(run):
    def add(field):
        refuse(run, field, "unknown_field")
        ask(run, "addChatSession", APP, {"protocol": "irc", "account": "n", "password": "p", "user": "alice",
                                         "server": "chat.example", "settings": {"x": None}})

    with Lawful(run):
        add("settings.x")
    add("server")


def password_that_is_one(run):
    def resume(operation, password):
        refuse(run, "password")
        path = {**APP, "installation": "installation-1", "chatSession": UNHEARD_OF + "07"}
        ask(run, operation, {name: path[name] for name in run.document.operations[operation].path_names}, {"password": password})

    with Lawful(run):
        for operation in ("resumeChatSession", "resumeOwnChatSession"):
            resume(operation, "a\nb")
    resume("resumeChatSession", "a b")


def content_that_shows_something(run):
    def add(alert):
        refuse(run, "notification.alert", "missing_content")
        ask(run, "addSchedule", APP, {"name": "planted", "schedule": {"cron": "0 9 * * mon-fri", "timeZone": "UTC"},
                                      "notification": {"to": {"user": "calm-1"}, "alert": alert}})

    with Lawful(run):
        for alert in (None, "", {"title": None}):
            add(alert)
    add("planted")


def scopes_of_no_public_key(run):
    with Lawful(run):
        public = ask(run, "addKey", {}, {"name": "planted", "scopes": ["registerSelf"], "apps": [APPS[0]]})
        run.falsify = status((), 0)
        for change in ({"scopes": ["send"]}, {"apps": None}):
            ask(run, "changeKey", {"key": public["id"]}, change)
    key = ask(run, "addKey", {}, {"name": "planted", "scopes": ["read"]})
    refuse(run, "scopes", "invalid_scopes")
    ask(run, "changeKey", {"key": key["id"]}, {"scopes": ["send"]})


def apps_of_no_public_key(run):
    key = ask(run, "addKey", {}, {"name": "planted", "scopes": ["read"], "apps": [APPS[0]]})
    refuse(run, "apps")
    ask(run, "changeKey", {"key": key["id"]}, {"apps": None})


OPERATIONS = ("addApp changeApp deleteApp addPublication showPublication beginUpload showUpload deleteUpload setPreferences "
              "saveAudience addSchedule addChatSession resumeChatSession resumeOwnChatSession addKey changeKey registerDevice send")
# The kind of finding that each has to lead to.
PLANTED = {
    "a publication that goes with nothing": ("order", gone_with_nothing),
    "an upload that is read after its deletion": ("order", taken_from_a_list),
    "an upload that nobody deleted": ("order", deleted_from_a_list),
    "an upload that is shown to a key of other apps": ("open", shown_to_others),
    "an upload that its own app's key does not find": ("order", missing_from_its_own),
    "a device that goes after overlapping erasures": ("device", taken_after_erasures),
    "a device that overlapping erasures leave": ("device", kept_by_erasures),
    "another notification with a repeated key": ("twice", repeated_key),
    "another duration": ("change", another_duration),
    "another time of day": ("change", another_time_of_day),
    "another time": ("change", another_time),
    "another number": ("change", another_number),
    "a host name that is refused": ("valid refused", host_that_is_one),
    "a setting that is refused": ("valid refused", setting_of_none),
    "a password that is refused": ("valid refused", password_that_is_one),
    "content that is refused": ("valid refused", content_that_shows_something),
    "all apps that are refused to a key that is no public one": ("valid refused", apps_of_no_public_key),
    "scopes that are refused to a key that is no public one": ("valid refused", scopes_of_no_public_key),
}
