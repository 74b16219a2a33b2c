"""The provider with what it needs around it, and the values that only somebody who knows it can give."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import threading
import time

from provider import Provider
from pushservice import Answer, PushService

APPS = ["com.example.Fuzz0", "com.example.Fuzz1"]
# These are made and deleted again and again.
DOOMED = ["com.example.Doomed0", "com.example.Doomed1"]
# The keys that are limited to APPS.
LIMITED = ("public", "read")
TOKENS = 40
USERS = ["alice", "bob", "carol", "d/e f", "ünï", "frank"]
# They have no device, so that nothing but a request changes their badges and preferences.
CALM_USERS = ["calm-1", "calm-2", "calm-3"]
TAGS = ["beta", "staff", "weather"]
CATEGORIES = ["news", "offers"]
ZONES = ["Europe/Berlin", "America/New_York", "UTC", "Asia/Tokyo"]
# A point of P-256, the base point, as a browser's key.
POINT = bytes.fromhex("046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                      "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


def url64(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class World:
    def __init__(self, options, folder):
        # That of the step which is made; and the day from which the times of requests count.
        self.rng, self.options, self.today = None, options, int(time.time()) // 86_400 * 86_400
        self.tokens = {app: [hashlib.sha256(f"{app} {number}".encode()).hexdigest() for number in range(TOKENS)]
                       for app in APPS}
        self.service = PushService(options.work, self.judge)
        self.posts = self.receiver()
        # Sessions at chat servers and names that nobody resolves are no part of this.
        self.provider = Provider(options, folder, self.service, ["--page", "20"])
        self.provider.start()
        with open(f"{options.work}/key.p8") as file:
            self.private_key = file.read()
        for app in APPS:
            self.provider.add_app(app)
        self.keys = {"admin": self.provider.key}
        for name, scope in (("public", "registerSelf"), ("read", "read")):
            body = {"name": f"own {name}", "scopes": [scope], "apps": APPS}
            self.keys[name] = self.provider.must("POST", "/v1/keys", body)["key"]
        # What nothing may delete or change, since everything else needs it.
        self.own = {key["id"] for key in self.provider.must("GET", "/v1/keys")["keys"]}
        # Ids of what is there, by the name that members and parameters have.
        self.known = {}
        # What installations got when they registered, by app and id.
        self.secrets, self.user_secrets = {}, {}

    @staticmethod
    def judge(environment, token, topic, apns_id):
        """Some tokens are gone."""
        return Answer(410, "Unregistered", 0) if token.startswith("0") else Answer()

    def receiver(self):
        posts = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                posts.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.receiver_port = server.server_port
        return posts

    def learn(self, name, value):
        """Remembers an id for bodies and queries."""
        values = self.known.setdefault(name, [])
        if value not in values:
            values.append(value)
            del values[:-20]

    def any(self, *names):
        values = [value for name in names for value in self.known.get(name, [])]
        return self.rng.choice(values) if values else None

    def hints(self, app):
        """A function from the name of a member and its schema to a value that makes sense, or None."""
        rng = self.rng
        every = [token for tokens in self.tokens.values() for token in tokens]
        makers = {
            "token": lambda: rng.choice(self.tokens.get(app, every)), "tokens[]": lambda: rng.choice(self.tokens.get(app, every)),
            "user": lambda: rng.choice(USERS), "users[]": lambda: rng.choice(USERS),
            "device": lambda: rng.choice(every), "tag": lambda: rng.choice(TAGS), "tags[]": lambda: rng.choice(TAGS),
            "optOuts[]": lambda: rng.choice(CATEGORIES), "consentCategory": lambda: rng.choice(CATEGORIES),
            "privateKey": lambda: self.private_key, "teamId": lambda: "DEF123GHIJ", "keyId": lambda: "ABC123DEFG",
            "endpoint": lambda: f"https://push.example.com/{rng.randrange(20)}", "p256dh": lambda: url64(POINT),
            "auth": lambda: url64(b"0123456789abcdef"), "vapidKey": lambda: url64(POINT),
            "url": lambda: f"http://127.0.0.1:{self.receiver_port}/{rng.randrange(10 ** 6)}",
            "installation": lambda: f"installation-{rng.randrange(10)}",
            "key": lambda: base64.b64encode(bytes([9] * 32)).decode(),
            # A rate of one push a second would let the run last for days.
            "rate": lambda: rng.randint(10_000, 90_000), "wait": lambda: "1", "named": lambda: self.any("audienceName"),
            "file": lambda: self.any("file"), "contact": lambda: "mailto:ops@example.com",
            "attribute": lambda: rng.choice(["city", "plan", "score"]), "appVersion": lambda: f"{rng.randrange(9)}.{rng.randrange(9)}",
            "cron": lambda: rng.choice(["0 9 * * mon-fri", "30 3 1 1 *", "0 0 29 2 *"]), "timeZone": lambda: rng.choice(ZONES),
 "defaultTimeZone": lambda: rng.choice(ZONES), "at": self.soon, "from": self.soon,
            "expiration": self.soon, "expiresAt": self.soon, "localTime": lambda: "2026-12-24T18:00",
            "date": lambda: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}", "language": lambda: rng.choice(["de", "pt-BR"]),
            "contentType": lambda: rng.choice(["application/zip", "image/png"]), "channel": lambda: url64(rng.randbytes(12)),
            "account": lambda: rng.choice(["reader", "ann@chat.example.com"]),
 "locale": lambda: rng.choice(["de", "en-GB", "pt"]),
            "subscriptionProducts[]": lambda: f"com.example.sub{rng.randrange(3)}", "productIds[]": lambda: "com.example.issue1",
            "productId": lambda: f"com.example.issue{rng.randrange(10 ** 6)}",
            "bundleId": lambda: rng.choice(DOOMED), "server": lambda: "127.0.0.1",
            "domain": lambda: "chat.example.com", "attributes": self.attributes,
            "apps[]": lambda: rng.choice(APPS), "topic": lambda: app, "id": lambda: self.any("template"),
            "notification": lambda: self.notification() if rng.random() < 0.9 else None,
            "alert": lambda: rng.choice(["Hello", {"title": "Hello", "body": "World"}, {"body": "ünï"}]),
            "badge": lambda: rng.choice([0, 1, 7]), "sound": lambda: "default", "to": lambda: self.audience(app),
        }

        def hint(name, schema):
            if name in makers and self.fits(name, schema):
                return makers[name]()
            if name == "to" and "anyOf" not in schema or name in ("cursor", "if-range", "range", "signature", "expires"):
                return None
            return self.any(name) if schema.get("format") == "uuid" else None
        return hint

    def fits(self, name, schema):
        """A name means different things in different places."""
        if name == "notification":
            return schema.get("type") == "object"
        if name == "key":
            return schema.get("maxLength") == 44
        if name == "id":
            return schema.get("format") == "uuid"
        if name == "rate":
            return any(one.get("maximum", 0) >= 90_000 for one in [schema, *schema.get("anyOf", [])])
        if name in ("badge", "alert", "sound"):
            return "anyOf" in schema
        if name in ("at", "from", "expiration", "expiresAt"):
            return "anyOf" in schema
        if name in ("named", "file", "wait"):
            return bool(self.any("audienceName" if name == "named" else name)) or name == "wait"
        return True

    def proof(self, app):
        """A JWT by which an app's back end says who a user is; None without a secret for it."""
        if app not in self.user_secrets:
            return None
        claims = {"sub": CALM_USERS[0], "exp": int(time.time()) + 1800}
        signed = ".".join(url64(to_json(part)) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        code = hmac.new(self.user_secrets[app].encode(), signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{url64(code)}"

    def soon(self):
        """A time that has not come, in one of the ways to write it."""
        at = self.today + self.rng.randint(200_000, 10_000_000)
        return self.rng.choice([int(at), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))])

    def attributes(self):
        return {name: self.rng.choice(["Berlin", 7, True]) for name in self.rng.sample(["city", "plan", "score"], 1)}

    def audience(self, app):
        rng = self.rng
        kind = rng.randrange(8)
        if kind < 3:
            return {"user": rng.choice(USERS)}
        if kind < 5 and app in self.tokens:
            return {"tokens": rng.sample(self.tokens[app], rng.randint(1, 3))}
        if kind == 5:
            return {"tag": rng.choice(TAGS)}
        return {"all": True} if kind == 6 else None

    def notification(self):
        return {"to": {"user": self.rng.choice(USERS)}, "alert": "scheduled"}


def options_folder(options, name):
    path = os.path.join(options.work, name)
    number = 0
    while os.path.exists(f"{path}{number}"):
        number += 1
    return f"{path}{number}"


def to_json(value):
    return json.dumps(value).encode()
