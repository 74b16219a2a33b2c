"""What callers of a good app do all the time, each at a door of its own, while others do their worst."""

import base64
import http.server
import json
import os
import threading
import time
import urllib.parse

from apps_client import Client, Refused, with_key
from component import ComponentServer

APP = "com.example.Good"
COMPONENT, COMPONENT_SECRET = "push.example.com", "a secret of the component"
PASSWORD = "correct horse battery staple"
# Devices of a campaign; their users; seconds for anything to arrive.
CAMPAIGN, USERS, PATIENCE = 50, 10, 20
# Users with XMPP accounts: so many that nobody is told twice in 20 s, which would be one push.
CHATTERS = 150
# Templates that are a long list together.
TEMPLATES = 20


class Arrivals:
    """What has arrived, by its name, and when: on the monotonic clock."""

    def __init__(self):
        self.times, self.condition = {}, threading.Condition()

    def note(self, name, at=None):
        with self.condition:
            self.times.setdefault(name, time.monotonic() if at is None else at)
            self.condition.notify_all()

    def wait(self, name, what):
        with self.condition:
            if not self.condition.wait_for(lambda: name in self.times, PATIENCE):
                raise Refused(f"{what} has not arrived in {PATIENCE} s")
            return self.times.pop(name)


class Hook:
    """A webhook that takes every post at once."""

    def __init__(self):
        self.arrivals = arrivals = Arrivals()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                content = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()
                for event in json.loads(content)["events"]:
                    if event["type"] == "delivery":
                        arrivals.note(event["token"])

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def sign_in(client, name):
    """The cookie of a session."""
    fields = urllib.parse.urlencode({"name": name, "password": PASSWORD})
    headers = {"content-type": "application/x-www-form-urlencoded"}
    reply = client.must("POST", "/dashboard/sign-in", fields, headers, good=[303])
    cookie = reply.headers["set-cookie"]
    if not cookie:
        raise Refused(f"POST /dashboard/sign-in: no session, but {reply.headers['location']}")
    return cookie.split(";")[0]


def add_person(provider, name, apps):
    """Somebody who administers an app, and has chosen a password."""
    answer = provider.must("POST", "/v1/people", {"name": name, "role": "operator", "apps": apps})
    fields = urllib.parse.urlencode({"name": "", "password": PASSWORD, "again": PASSWORD})
    headers = {"content-type": "application/x-www-form-urlencoded"}
    path = urllib.parse.urlsplit(answer["link"]).path
    Client(provider.port).must("POST", path, fields, headers, good=[303])


class Good:
    """A good app: its keys, devices, issue, person and neighbours."""

    def __init__(self, provider, rng, arrivals):
        self.provider, self.rng, self.arrivals, self.hook = provider, rng, arrivals, Hook()
        self.server = ComponentServer(COMPONENT, COMPONENT_SECRET)
        self.file = os.urandom(64 * 1024)
        provider.add_app(APP)
        self.client = Client(provider.port, headers=with_key(self.key(["read", "send", "register", "operate"])))
        self.public = Client(provider.port, headers=with_key(self.key(["registerSelf"])))
        self.tokens = [self.token() for _ in range(CAMPAIGN)]
        provider.register(APP, [{"token": token, "environment": "sandbox", "user": f"user{number % USERS}",
                                 "tags": ["campaign"]} for number, token in enumerate(self.tokens)])
        # Those with an account of a chat server have a device each, which gets nothing else.
        self.phones = [self.token() for _ in range(CHATTERS)]
        provider.register(APP, [{"token": token, "environment": "sandbox", "user": f"chatter{number}"}
                                for number, token in enumerate(self.phones)])
        for number in range(TEMPLATES):
            provider.must("PUT", f"/v1/apps/{APP}/templates/template{number}", {"content": {
                "alert": {"title": "Hello", "body": "x" * 3500}}})
        self.set_up_publishing()
        self.set_up_neighbours()
        for name in ("reader", "writer"):
            add_person(provider, name, [APP])
        self.page_client = Client(provider.port, headers={"cookie": sign_in(Client(provider.port), "reader")})

    def key(self, scopes):
        return self.provider.must("POST", "/v1/keys", {"name": "good", "scopes": scopes, "apps": [APP]})["key"]

    def token(self):
        return f"{self.rng.getrandbits(256):064x}"

    def set_up_publishing(self):
        self.product = add_issue(self.provider, APP, self.file, "com.example.good1", "free")

    def set_up_neighbours(self):
        self.provider.must("PUT", f"/v1/apps/{APP}/bridges/matrix/good", {"environment": "sandbox"})
        self.provider.must("PUT", f"/v1/apps/{APP}/bridges/xmpp/{COMPONENT}", {
            "environment": "sandbox", "secret": COMPONENT_SECRET,
            "settings": {"host": "127.0.0.1", "port": self.server.port}})
        self.provider.must("POST", f"/v1/apps/{APP}/webhooks", {"url": self.hook.url})
        self.nodes = [self.provider.must("POST", f"/v1/apps/{APP}/xmpp-nodes", {
            "domain": "example.com", "user": f"chatter{number}"}) for number in range(CHATTERS)]
        self.published = 0
        if not self.server.wait_for_link():
            raise Refused("the component does not come")

    # Each of these does one thing, and returns the seconds that it took.

    def push(self):
        token, begin = self.token(), time.monotonic()
        self.client.must("POST", f"/v1/apps/{APP}/notifications", {
            "to": {"tokens": [token]}, "environment": "sandbox", "alert": "push"})
        return self.arrivals.wait(token, "a push") - begin

    def campaign(self):
        return self.sent({"to": {"tag": "campaign"}, "alert": "campaign"}, time.monotonic())

    def due(self):
        """A campaign whose time comes while others are opened too (findings A1), from its time on."""
        at = int(time.time()) + 1
        begin = time.monotonic() + at - time.time()
        return max(0.0, self.sent({"to": {"tag": "campaign"}, "alert": "due", "when": {"at": at}}, begin))

    def sent(self, body, begin):
        """Seconds until all of a campaign have it, from a moment on."""
        path = f"/v1/apps/{APP}/notifications"
        identity = self.client.json("POST", path, body)["id"]
        while True:
            answer = self.client.json("GET", f"/v1/notifications/{identity}")
            if answer["state"] == "done" and answer["counters"]["accepted"] == CAMPAIGN:
                return time.monotonic() - begin
            if answer["state"] in ("done", "cancelled", "paused") or time.monotonic() > begin + PATIENCE:
                raise Refused(f"a campaign is {answer['state']} with {answer['counters']}: {answer.get('error')}")
            time.sleep(0.02)

    def registration(self):
        begin = time.monotonic()
        self.client.must("POST", f"/v1/apps/{APP}/devices", {"token": self.token(), "environment": "sandbox"})
        return time.monotonic() - begin

    def count(self):
        begin = time.monotonic()
        self.client.must("POST", f"/v1/apps/{APP}/audience:count", {"audience": {"tag": "campaign"}})
        return time.monotonic() - begin

    def download(self):
        begin = time.monotonic()
        path = f"/v1/apps/{APP}/issues/{self.product}:download"
        address = self.public.json("POST", path, {"screenSize": "2048x1536"})["url"]
        reply = Client(self.provider.port).must("GET", urllib.parse.urlsplit(address)._replace(scheme="", netloc="").geturl())
        if reply.body != self.file:
            raise Refused(f"GET of a file: {len(reply.body)} bytes, which are others")
        return time.monotonic() - begin

    def upload(self):
        begin = time.monotonic()
        headers = {"content-type": "application/octet-stream"}
        self.provider_client().must("POST", f"/v1/apps/{APP}/files?name=a", os.urandom(8192), headers)
        return time.monotonic() - begin

    def provider_client(self):
        return Client(self.provider.port, headers=with_key(self.provider.key))

    def templates(self):
        begin = time.monotonic()
        templates = self.client.json("GET", f"/v1/apps/{APP}/templates")["templates"]
        if len(templates) != TEMPLATES:
            raise Refused(f"GET of templates: {len(templates)}")
        return time.monotonic() - begin

    def page(self):
        begin = time.monotonic()
        reply = self.page_client.must("GET", f"/dashboard/apps/{APP}")
        if b"sign-in" in reply.body and b"password" in reply.body:
            raise Refused("GET of a page: the session has ended")
        return time.monotonic() - begin

    def matrix(self):
        token, begin = self.token(), time.monotonic()
        self.client.must("POST", f"/v1/apps/{APP}/devices", {"token": token, "environment": "sandbox"})
        pushkey = base64.b64encode(bytes.fromhex(token)).decode()
        reply = Client(self.provider.port).json("POST", "/_matrix/push/v1/notify", {"notification": {
            "event_id": f"${token}", "room_id": "!r", "counts": {"unread": 1},
            "devices": [{"app_id": "good", "pushkey": pushkey}]}})
        if reply != {"rejected": []}:
            raise Refused(f"POST /_matrix/push/v1/notify: {reply}")
        return self.arrivals.wait(token, "a Matrix push") - begin

    def xmpp(self):
        number, begin = self.published % CHATTERS, time.monotonic()
        self.published += 1
        node = self.nodes[number]
        answer = self.server.publish(node["node"], node["secret"], PATIENCE)
        if answer is None or "type='result'" not in answer.replace('"', "'"):
            raise Refused(f"a publish: {answer}")
        return self.arrivals.wait(self.phones[number], "a push of a publish") - begin

    def webhook(self):
        token, begin = self.token(), time.monotonic()
        self.client.must("POST", f"/v1/apps/{APP}/notifications", {
            "to": {"tokens": [token]}, "environment": "sandbox", "alert": "webhook"})
        return self.hook.arrivals.wait(token, "an event") - begin

    def sign_in(self):
        begin = time.monotonic()
        sign_in(Client(self.provider.port), "writer")
        return time.monotonic() - begin

    def doors(self):
        """By name: what is done, and the seconds between two."""
        return {"push": (self.push, 0.1), "campaign": (self.campaign, 0.2), "due": (self.due, 0.2),
                "registration": (self.registration, 0.1), "count": (self.count, 0.2), "templates": (self.templates, 0.2),
                "download": (self.download, 0.2), "upload": (self.upload, 0.2),
                "page": (self.page, 0.2), "matrix": (self.matrix, 0.2), "xmpp": (self.xmpp, 0.2),
                "webhook": (self.webhook, 0.2), "sign-in": (self.sign_in, 0.5)}


def add_issue(provider, app, content, product, access):
    """Publishes an issue with one file, and returns its product id."""
    client = Client(provider.port, headers=with_key(provider.key))
    publication = client.json("POST", f"/v1/apps/{app}/publications", {"name": "The Example"})["id"]
    issue = client.json("POST", f"/v1/publications/{publication}/issues", {
        "productId": product, "title": "Issue 1", "date": "2026-11-20", "access": access})["id"]
    file = client.json("POST", f"/v1/apps/{app}/files?name=issue.zip", content, {"content-type": "application/zip"})
    client.must("PUT", f"/v1/issues/{issue}/renditions/2048x1536", {"file": file["sha256"]})
    client.must("POST", f"/v1/issues/{issue}:publish")
    return product
