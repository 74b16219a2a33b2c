"""What the tests see: apps with credentials, devices, notifications in all states, schedules, webhooks, people, issues."""
import functools
import itertools
import json
import os
import struct
import subprocess
import urllib.parse
import zlib

from provider import KEY, WORK, api, gateway, new_key, new_person, request, wait_for

NEWS, EMPTY, HOSTILE = "com.example.News", "com.example.Empty", "com.example.Hostile"
# What people have written, which has no language of the dashboard's.
NAMES = ["The Example", "Morning news", "Evening news", "Weekly", "Next year", "A mistake", "Daily", "Beta testers", "Welcome", "Nice to have you."]
TEAM, KEY_ID = "DEF123GHIJ", "ABC123DEFG"
SIZE = int(os.environ.get("SIZE", "2000"))
# The first: no browser may take it for the beginning of an element. The marker stays unset unless markup is executed.
MARKUP = [
    "\u0600<script>window.executed=1</script>",
    "\"><img src=x onerror=window.executed=1>",
    "'><svg onload=window.executed=1>",
    "{{title}} </textarea></title><script>window.executed=1</script>",
]


def signing_key():
    with open(f"{WORK}/key.p8") as file:
        return file.read()


class Names:
    """The ids of one app's things, by which the table of pages names them."""

    def __init__(self, app):
        self.app = app
        self.values = {"app": app}

    def __getattr__(self, name):
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def make_app(app, name=None, credentials=True):
    api("POST", "/v1/apps", {"bundleId": app, **({"name": name} if name else {})})
    if credentials:
        key = {"teamId": TEAM, "keyId": KEY_ID, "privateKey": signing_key()}
        for environment in ("sandbox", "production"):
            api("PUT", f"/v1/apps/{app}/credentials/{environment}", key)
    return app


def make_devices(app, devices):
    """Imports devices, dictionaries as in the API, 50,000 by a request."""
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/x-ndjson"}
    devices = iter(devices)
    while part := list(itertools.islice(devices, 50_000)):
        lines = "\n".join(json.dumps(device, ensure_ascii=False) for device in part)
        response = request("POST", f"/v1/apps/{app}/devices:import", lines.encode(), headers, timeout=900)
        assert response.status == 200 and not response.json["refused"], response.text[:2000]
        assert response.json["lines"] == len(part), response.text[:2000]


@functools.cache
def phone(app):
    """The token of a device that the gateway knows: what is sent to it is accepted."""
    gateway("POST", "/v1/apps", {"teamId": TEAM, "bundleId": app})
    gateway("POST", "/v1/keys", {"teamId": TEAM, "keyId": KEY_ID, "key": signing_key()}, allow=(400, 409))
    command = [
        os.environ["WEB_MARTLET"], "device", "run", "--topic", app, "--identity", f"{WORK}/phone.{app}", "--print-token",
        "--port", os.environ["WEB_COURIER_PORT"], "--admin-url", os.environ["WEB_GATEWAY"].replace("127.0.0.1", "localhost"),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.split()[-1]


def picture(width=72, height=96):
    """A PNG of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x33\x67\xd6" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def upload(app, content, name, kind):
    """Uploads a file, and returns its hash."""
    headers = {"authorization": f"Bearer {KEY}", "content-type": kind}
    response = request("POST", f"/v1/apps/{app}/files?name={urllib.parse.quote(name)}", content, headers)
    assert response.status == 201, response.text
    return response.json["sha256"]


def make_issue(app, publication, product, title, date, publishes=True, file_name="issue.zip"):
    """An issue with a cover and two renditions; returns its id."""
    body = {"productId": product, "title": title, "date": date, "number": "7"}
    issue = api("POST", f"/v1/publications/{publication}/issues", body)["id"]
    file = upload(app, f"what {product} says".encode() * 1000, file_name, "application/zip")
    for size in ("1024x768", "2048x1536"):
        api("PUT", f"/v1/issues/{issue}/renditions/{size}", {"file": file})
    api("PUT", f"/v1/issues/{issue}/cover", {"file": upload(app, picture(), "cover.png", "image/png")})
    if publishes:
        api("POST", f"/v1/issues/{issue}:publish")
    return issue


def publish(app, text):
    """A publication with a draft, a published issue, one that is being notified of, and a publisher's server."""
    publication = api("POST", f"/v1/apps/{app}/publications", {
        "name": text("name", 8, "Example Weekly"),
        "waves": {"size": 50, "steering": {"maximumDownloads": 400, "maximumBandwidth": 50_000_000}},
    })["id"]
    titles = [text("title", 8 + number, f"Issue {6 + number}") for number in range(3)]
    notified = make_issue(app, publication, "com.example.issue6", titles[0], "2026-11-13", file_name=text("name", 9, "issue6.zip"))
    issue = make_issue(app, publication, "com.example.issue7", titles[1], "2026-11-20")
    draft = make_issue(app, publication, "com.example.issue8", titles[2], "2026-11-27", publishes=False)
    api("POST", f"/v1/issues/{notified}:notify")
    api("PUT", f"/v1/apps/{app}/entitlement", {"url": "https://publisher.example.com/entitlements"})
    return {"publication": publication, "issue": issue, "draft": draft, "notified": notified, "place": "cover"}


def send(app, body):
    return api("POST", f"/v1/apps/{app}/notifications", body)["id"]


def state(notification):
    return api("GET", f"/v1/notifications/{notification}")["state"]


def fill(app, text=lambda kind, number, plain: plain, size=200):
    """Fills an app, and returns its names. `text` chooses what people wrote: for each kind and number, or the plain text."""
    names = Names(app)
    make_app(app, text("app", 0, "The Example"))
    token = phone(app)
    cities = ["Berlin", "Wien", "Zürich", "London", "Paris"]
    make_devices(app, [{
        "token": token, "environment": "sandbox", "user": text("user", 0, "alice"), "locale": "de-DE",
        "timeZone": "Europe/Berlin", "tags": [text("tag", 0, "beta")], "attributes": {"city": text("attribute", 0, "Berlin")},
        "installation": "5B0C9B0E-5D86-4C3B-9D3C-0B1E6B5C1A11", "appVersion": "2.1",
    }])
    make_devices(app, ({
        "token": f"{number:064x}", "environment": "production", "user": text("user", number, f"user{number}"),
        "locale": ["de-DE", "en-GB", "fr-FR"][number % 3], "timeZone": ["Europe/Berlin", "Europe/London"][number % 2],
        "tags": [text("tag", number, ["beta", "news", "sport"][number % 3])],
        "attributes": {
            "city": text("attribute", number, cities[number % 5]), "level": number % 10, "newsstand": number % 10 == 0,
        },
    } for number in range(1, size + 1)))
    # A token that the gateway does not know is rejected.
    make_devices(app, [{"token": "ff" * 32, "environment": "sandbox", "user": text("user", 1, "bob")}])

    def alert(number, title, body):
        return {"title": text("title", number, title), "body": text("body", number, body)}

    done = send(app, {
        "to": {"all": True}, "environment": "sandbox", "name": text("name", 0, "Morning news"),
        "alert": alert(0, "Good morning", "Three things that matter today."),
    })
    running = send(app, {
        "to": {"all": True}, "environment": "production", "name": text("name", 1, "Evening news"), "pace": {"rate": 1},
        "alert": alert(1, "Good evening", "What happened today."),
    })
    paused = send(app, {
        "to": {"all": True}, "environment": "production", "name": text("name", 2, "Weekly"), "pace": {"rate": 1},
        "alert": alert(2, "The week", "Seven days."),
    })
    api("POST", f"/v1/notifications/{paused}:pause")
    scheduled = send(app, {
        "to": {"tag": text("tag", 0, "beta")}, "name": text("name", 3, "Next year"), "when": {"at": "2027-01-01T00:00:00Z"},
        "alert": alert(3, "Happy new year", "See you."),
    })
    cancelled = send(app, {
        "to": {"all": True}, "name": text("name", 4, "A mistake"), "when": {"at": "2027-01-01T00:00:00Z"},
        "alert": alert(4, "Oops", "This was not meant for you."),
    })
    api("POST", f"/v1/notifications/{cancelled}:cancel")
    wait_for(lambda: state(done) == "done", what="the end of the first notification")
    delivery = api("GET", f"/v1/notifications/{done}/deliveries")["deliveries"][0]
    schedule = api("POST", f"/v1/apps/{app}/schedules", {
        "name": text("name", 5, "Daily"), "schedule": {"cron": "0 9 * * *", "timeZone": "Europe/Berlin"},
        "notification": {"to": {"all": True}, "alert": alert(5, "Good morning", "The day begins.")},
    })["id"]
    audience = api("POST", f"/v1/apps/{app}/audiences", {
        "name": text("name", 6, "Beta testers"), "audience": {"tag": text("tag", 0, "beta")},
    })["id"]
    template = api("POST", f"/v1/apps/{app}/templates", {
        "name": text("name", 7, "Welcome"), "content": {"alert": alert(6, "Welcome", "Nice to have you.")},
    })["id"]
    webhook = api("POST", f"/v1/apps/{app}/webhooks", {"url": "https://hooks.example.com/push"})["id"]
    names.values.update(
        token=token, user=text("user", 0, "alice"), notification=done, running=running, paused=paused, scheduled=scheduled,
        cancelled=cancelled, delivery=delivery["apnsId"], schedule=schedule, webhook=webhook,
        audience=audience, template=template,
    )
    names.values.update(publish(app, text))
    names.values.update(of_server())
    return names


@functools.cache
def of_server():
    """The names of what is about no app. Nothing of them is changed: whoever posts a form with them is refused."""
    viewer = person("viewer").name
    return {
        "person": next(each["id"] for each in api("GET", "/v1/people?limit=1000")["people"] if each["name"] == viewer),
        "key": api("GET", "/v1/keys")["keys"][0]["id"],
        "session": "5B0C9B0E-5D86-4C3B-9D3C-0B1E6B5C1A12",
        "environment": "sandbox", "decision": "apply", "operation": "enable", "link": "0123456789abcdef",
    }


def hostile(kind, number, plain):
    """Markup in place of what people write, where the API takes it."""
    return f"{MARKUP[number % len(MARKUP)]}{number}" if kind != "app" else MARKUP[0]


@functools.cache
def news():
    """An app as it usually is, with SIZE devices."""
    return fill(NEWS, size=SIZE)


@functools.cache
def attacked():
    """An app whose users and authors write markup."""
    return fill(HOSTILE, hostile, size=20)


@functools.cache
def empty():
    """An app without anything."""
    return Names(make_app(EMPTY, credentials=False))


@functools.cache
def person(role, app=None):
    """A person of a role, of all apps or of one; the same for all tests that change nothing about people."""
    return new_person(role, [app] if app else None)


@functools.cache
def key(*scopes):
    return new_key(list(scopes))
