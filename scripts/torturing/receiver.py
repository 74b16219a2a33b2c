"""The receiving end of a webhook, which does not always do what it should."""

import hashlib
import hmac
import http.server
import json
import sys
import threading
import time

from apns_id import apns_id, prefix_of
from basics import APP, fail

WORDS = {1: "accepted", 2: "rejected", 3: "failed", 4: "skipped", 5: "unknown"}


def is_genuine(header, body, secret):
    """As docs/webhooks.md has it."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    at = dict(parts).get("t", "")
    if not (at.isascii() and at.isdigit()) or abs(time.time() - int(at)) > 300:
        return False
    code = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(code.encode(), value.encode()) for name, value in parts if name == "v1")


class Receiver:
    def __init__(self, rng):
        self.rng, self.lock = rng, threading.Lock()
        # By event id, a hash of the event; how many came again; posts by what was done to them.
        self.events, self.again, self.posts = {}, 0, {"taken": 0, "mute": 0, "refused": 0, "closed": 0, "held": 0}
        # The first blocks of posts that were taken, the last block of any.
        self.begins, self.last = set(), 0
        self.faults, self.is_kind, self.secret = [], False, None
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                # A provider that is killed resets its connections.
                error = sys.exc_info()[1]
                if not isinstance(error, ConnectionError):
                    receiver.faults.append(f"a post is answered with {error!r}")

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add_to(self, provider, app=APP):
        url = f"http://127.0.0.1:{self.server.server_port}/hook"
        answer = provider.must("POST", f"/v1/apps/{app}/webhooks", {"url": url})
        self.identity, self.secret = answer["id"], answer["secret"]

    def answer(self, handler):
        length = int(handler.headers["content-length"])
        body = handler.rfile.read(length)
        if len(body) < length:
            return self.close(handler)
        with self.lock:
            behaviour = "taken" if self.is_kind else self.rng.choices(
                ["taken", "mute", "refused", "closed", "held"], [75, 4, 13, 6, 2])[0]
            self.posts[behaviour] += 1
            if behaviour in ("taken", "mute"):
                self.take(handler.headers["martlet-signature"], body)
        if behaviour == "held":
            # Longer than the provider's deadline.
            time.sleep(11)
        if behaviour in ("mute", "closed", "held"):
            return self.close(handler)
        handler.send_response(200 if behaviour == "taken" else 500)
        handler.send_header("content-length", "0")
        handler.end_headers()

    @staticmethod
    def close(handler):
        handler.close_connection = True

    def take(self, signature, body):
        if not is_genuine(signature or "", body, self.secret):
            self.faults.append(f"a post is signed with {signature}")
            return
        post = json.loads(body)
        first, last = map(int, post["id"].rpartition(".")[2].split("-"))
        if first <= self.last and first not in self.begins:
            self.faults.append(f"post {post['id']} is out of order: block {self.last} was told")
        self.begins.add(first)
        self.last = max(self.last, last)
        for event in post["events"]:
            if event["type"] == "delivery" and event["user"] != f"user-{event['token']}":
                self.faults.append(f"event {event['id']} is of user {event['user']}")
            content = hash(json.dumps(event))
            known = self.events.get(event["id"])
            if known is None:
                self.events[event["id"]] = content
                continue
            if known != content:
                self.faults.append(f"event {event['id']} has changed")
            self.again += 1

    def wait(self, provider, seconds=120):
        """From now on everything is taken: until there is no more to tell."""
        self.is_kind, end = True, time.monotonic() + seconds
        while time.monotonic() < end:
            database = provider.database()
            rest = database.execute(
                "SELECT count(*) FROM eventBlock WHERE id > (SELECT cursor FROM webhook)").fetchone()[0]
            database.close()
            if rest == 0:
                return
            time.sleep(0.2)
        fail(f"{rest} blocks of events are not told to the webhook")

    def prove(self, database):
        """Every final state and everything that was done to tokens has been told, and nothing else. How many events."""
        if self.faults:
            fail(f"{len(self.faults)} times a webhook was told wrongly, such as: {self.faults[0]}")
        prefixes = {number: prefix_of(identity)
                    for number, identity in database.execute("SELECT number, id FROM notification")}
        told = set(self.events)
        final = {f"{apns_id(prefixes[notification], recipient)}.{WORDS[state]}" for notification, recipient, state
                 in database.execute("SELECT notification, recipient, state FROM delivery WHERE state != 0")}
        if final - told:
            words = {}
            for event in final - told:
                words[event[37:]] = words.get(event[37:], 0) + 1
            fail(f"the webhook was not told of {words}, such as {next(iter(final - told))}")
        others = told - final
        tokens = database.execute("SELECT count(*) FROM tokenEvent").fetchone()[0]
        if any("." in event for event in others) or len(others) != tokens:
            fail(f"the webhook was told of {len(others)} other events, and there are {tokens} of tokens")
        return len(told)
