"""What one hostile app, or a stranger, does at full strength: an attack on each resource that callers compete for.

An attack is a generator that is run by several clients at once, each with a number: it yields the status of each blow, or that it
holds what it has, and gives that back at its end. Hostile clients have other addresses than the good ones."""

import base64
import collections
import json
import os
import random
import time
import urllib.parse

from apps_client import stranger
from apps_doors import PASSWORD
from apps_hostile import (APP, DEVICES, FORM_KEY, HELD, SECRET, blast, filled, head, holding, identity, keeping, opened,
                          pushkey, remove, reset)
from basics import size

# Those who attack at the same time.
CLIENTS = size("APP_CLIENTS", 16)
COSTLY = {"and": [{"not": {"attribute": f"name{number}", "is": number}} for number in range(60)]}

Attack = collections.namedtuple("Attack", "name resources clients is_strangers run")
ATTACKS = []


def attack(*resources, clients=CLIENTS, is_strangers=False):
    """An attack on these resources, by callers of the app or by strangers, who have no key of anything."""
    def add(run):
        ATTACKS.append(Attack(run.__name__, resources, clients, is_strangers, run))
        return run
    return add


@attack("newConnections")
def new_connections(world, number):
    """Those of networks that have shown a key."""
    address = stranger(1 + number % 4)
    world.client(number, address=address).status("GET", "/v1/key")
    while True:
        yield reset(world.port, address)


@attack("strangerConnections", is_strangers=True)
def stranger_connections(world, number):
    """Those of one network, and of as many as there are, which are reset at once."""
    count = 0
    while True:
        count += 1
        # No other attack has these addresses: none of them has shown a key.
        address = stranger(20_000 + (number * 1000 + count) % 10_000 if number % 2 else 20_000)
        yield reset(world.port, address)


@attack("connections")
def connections(world, number):
    """Those of a signed address, which are idle then (findings A2)."""
    yield from holding(world, head("HEAD", world.file()), number)


@attack("connections")
def connections_of_key(world, number):
    key = world.keys[number % len(world.keys)]
    yield from holding(world, head("GET", "/v1/key", [f"authorization: Bearer {key}"]), number)


@attack("connections")
def connections_of_resource(world, number):
    """Those of a Web Push address, which every sender of a subscriber has (findings A3)."""
    yield from holding(world, head("POST", world.subscriptions[0], ["ttl: 60", "content-length: 0"]), number)


@attack("connections", is_strangers=True)
def connections_of_bodies(world, number):
    """Those of bodies that never come."""
    yield from holding(world, head("POST", "/_matrix/push/v1/notify", ["content-length: 1000"]), number)


@attack("downloads")
def downloads(world, number):
    """Slow readers of one file (findings A5)."""
    yield from holding(world, head("GET", world.file()), number)


@attack("requests")
def requests(world, number):
    """All of one key."""
    yield from blast(world, head("GET", "/v1/key", [f"authorization: Bearer {world.keys[0]}"]))


@attack("publicRequests")
def public_requests(world, _):
    client = world.client(0, world.public_key)
    while True:
        yield client.status("GET", f"/v1/apps/{APP}/catalogue")


@attack("forms")
def forms(world, number):
    fields = ["content-type: application/x-www-form-urlencoded"]
    request = filled("POST", f"/compat/publisher/{APP}/{FORM_KEY}/register", f"token={world.token()}".encode(), fields)
    yield from blast(world, request, stranger(number) if number % 2 else None)


@attack("bridgeRequests")
def gorush(world, number):
    body = {"notifications": [{"platform": 1, "tokens": [world.tokens[number]], "message": "x"}]}
    fields = ["content-type: application/json"]
    yield from blast(world, filled("POST", f"/gorush/{APP}/{SECRET}/api/push", json.dumps(body).encode(), fields))


@attack("wrongSecrets", is_strangers=True)
def wrong_secrets(world, number):
    client, rng = world.anonymous(), random.Random(number)
    while True:
        yield client.status("POST", f"/gorush/{APP}/{rng.getrandbits(128):032x}/api/push", {"notifications": []})


@attack("longBodies", clients=24)
def long_bodies(world, number):
    client = world.client(number)
    devices = [{"token": token, "environment": "sandbox", "attributes": {"text": "x" * 2000}} for token in world.tokens]
    body = json.dumps({"devices": devices[:1000]})
    headers = {"content-type": "application/json"}
    while True:
        yield client.status("POST", f"/v1/apps/{APP}/devices:batch", body, headers)


@attack("bodyBytes")
def body_bytes(world, number):
    """Long bodies of which the end never comes."""
    length, key = 4 << 20, world.keys[number % len(world.keys)]
    request = head("POST", f"/v1/apps/{APP}/devices:batch", [
        f"authorization: Bearer {key}", f"content-length: {length}", "content-type: application/json"])
    yield from holding(world, request + bytes(length // 2), number)


@attack("responseBytes", "longLists")
def response_bytes(world, number):
    """A list of long templates, of which only the beginning is read."""
    key = world.keys[number % len(world.keys)]
    request = head("GET", f"/v1/apps/{APP}/templates?limit=1000", [f"authorization: Bearer {key}"])

    def connect(address):
        connection = opened(world.port, request, address)
        try:
            # A refusal holds nothing.
            if b" 200 " not in connection.recv(16):
                raise OSError
        except OSError:
            connection.close()
            raise
        return connection

    yield from keeping(connect, number)


@attack("followedOutcomes", clients=2)
def followed_outcomes(world, number):
    """Pushes to many tokens, whose failures are to be told to a server that never answers."""
    client, rng = world.anonymous(), random.Random(number)
    while True:
        tokens = [f"{rng.getrandbits(256):064x}" for _ in range(5000)]
        yield client.status("POST", f"/gorush/default/{SECRET}/api/push", {
            "notifications": [{"platform": 1, "topic": APP, "tokens": tokens, "message": "x"}]})


@attack("bridgeConnections")
def bridge_connections(world, number):
    """Connections of one old provider."""
    yield from keeping(world.old_provider.connect, number)


@attack("queries")
def queries(world, number):
    """Each client with a key of its own (findings A7)."""
    yield from counting(world, number, COSTLY)


@attack("queryAttempts")
def query_attempts(world, number):
    """Queries that a first attempt answers, one after the other."""
    yield from counting(world, number, {"not": {"attribute": "level", "is": 3}})


def counting(world, number, audience):
    client = world.client(number)
    while True:
        yield client.status("POST", f"/v1/apps/{APP}/audience:count", {"audience": audience})


@attack("exports")
def exports(world, number):
    client = world.client(number)
    while True:
        yield client.status("GET", f"/v1/apps/{APP}/devices:export")


@attack("counts")
def counts(world, number):
    """Campaigns whose recipients are counted at length, and slow sends (findings A1)."""
    client, sent = world.client(number, timeout=3), []

    def send(**more):
        reply = client.ask("POST", f"/v1/apps/{APP}/notifications", {
            "to": COSTLY, "alert": "x", "environment": "sandbox", **more})
        if reply and reply.status == 202:
            sent.append(json.loads(reply.body)["id"])
        return reply and reply.status

    try:
        while True:
            yield send(when={"at": int(time.time()) + 2})
            yield send()
    finally:
        for notification in sent:
            remove(client, f"/v1/notifications/{notification}:cancel", "POST")


@attack("hashes")
def hashes(world, number):
    """Sign-ins from the network of somebody who has signed in."""
    client = world.anonymous()
    while True:
        fields = urllib.parse.urlencode({"name": f"nobody{number}", "password": PASSWORD})
        yield client.status("POST", "/dashboard/sign-in", fields, {"content-type": "application/x-www-form-urlencoded"})


@attack("strangerHashes", is_strangers=True)
def stranger_hashes(world, number):
    """Sign-ins from a network of its own each (findings A8)."""
    while True:
        fields = urllib.parse.urlencode({"name": f"nobody{number}", "password": PASSWORD})
        client = world.anonymous(stranger(1 + world.rng.randrange(10_000)))
        yield client.status("POST", "/dashboard/sign-in", fields, {"content-type": "application/x-www-form-urlencoded"})


@attack("livePages")
def live_pages(world, _):
    page = world.anonymous().ask("GET", f"/dashboard/apps/{APP}", None, {"cookie": world.cookie})
    address = page.body.decode().partition('data-live="')[2].partition('"')[0].replace("&amp;", "&") if page else ""
    yield from holding(world, head("GET", address or "/dashboard", [f"cookie: {world.cookie}", "accept: text/event-stream"]))


@attack("credentialTests")
def credential_tests(world, number):
    client = world.client(number)
    while True:
        yield client.status("POST", f"/v1/apps/{APP}/credentials/sandbox:test", {})


@attack("receipts")
def receipts(world, number):
    rng = random.Random(number)
    path = f"/v1/apps/{APP}/installations/{world.installation}/receipts"
    while True:
        client = world.client(0, world.public_key, stranger(1 + rng.randrange(10_000)))
        entries = [{"id": identity(rng), "event": "opened", "notification": identity(rng), "at": "2026-11-25T09:30:00Z"}
                   for _ in range(100)]
        yield client.status("POST", path, {"privacy": "device", "receipts": entries}, {
            "installation-secret": world.secret})


@attack("uploads", "uploadedBytes")
def uploads(world, number):
    """Begun, and hardly a byte comes (findings A6)."""
    client, rng = world.client(number), random.Random(number)
    key, begun, held = f"authorization: {client.headers['authorization']}", [], []
    try:
        while True:
            reply = client.ask("POST", f"/v1/apps/{APP}/uploads", {
                "size": 4 << 30, "sha256": f"{rng.getrandbits(256):064x}", "contentType": "application/zip", "name": "x"})
            if reply and reply.status == 201:
                begun.append(json.loads(reply.body)["id"])
                request = head("PATCH", f"/v1/uploads/{begun[-1]}", [
                    key, "upload-offset: 0", f"content-length: {1 << 30}", "content-type: application/partial-upload"])
                held.append(opened(world.port, request + bytes(1000)))
            yield reply and reply.status
    finally:
        for connection in held:
            connection.close()
        for upload in begun:
            remove(client, f"/v1/uploads/{upload}")


@attack("uploadedBytes")
def whole_files(world, number):
    """Files of a length that nobody says, of which hardly a byte comes."""
    key = world.keys[number % len(world.keys)]
    fields = [f"authorization: Bearer {key}", "transfer-encoding: chunked", "content-type: application/zip"]
    yield from holding(world, head("POST", f"/v1/apps/{APP}/files?name=x", fields) + b"3e8\r\n" + bytes(1000) + b"\r\n", number)


@attack("entitlementQuestions")
def entitlement(world, number):
    """The publisher's server never answers (findings A4)."""
    client, rng = world.client(0, world.public_key, stranger(number)), random.Random(number)
    while True:
        yield client.status("POST", f"/v1/apps/{APP}/entitlements", {
            "productIds": [world.retail], "account": f"{rng.getrandbits(64)}"})


@attack("matrixRequests", "matrixBytes", "unknownTokens", is_strangers=True)
def matrix(world, number):
    """Large requests with a hundred pushkeys that nobody has (findings A12 to A14)."""
    client, rng = world.anonymous(), random.Random(number)
    while True:
        yield client.status("POST", "/_matrix/push/v1/notify", {"notification": {
            "event_id": f"${rng.getrandbits(64)}", "room_id": "!r", "type": "m.room.message", "content": {"body": "x" * 300_000},
            "devices": [{"app_id": "hostile", "pushkey": pushkey(rng)} for _ in range(100)]}})


@attack("matrixPushes")
def matrix_pushes(world, number):
    """Pushes to one registered token."""
    client, rng = world.anonymous(), random.Random(number)
    key = base64.b64encode(bytes.fromhex(world.tokens[0])).decode()
    while True:
        yield client.status("POST", "/_matrix/push/v1/notify", {"notification": {
            "event_id": f"${rng.getrandbits(64)}", "counts": {"unread": 1},
            "devices": [{"app_id": "hostile", "pushkey": key}]}})


@attack("forwards", "hostForwards", "clientHostForwards", is_strangers=True)
def forwards(world, number):
    """UnifiedPush servers that never answer."""
    client, rng = world.anonymous(), random.Random(number)
    while True:
        url = f"http://127.0.0.1:{world.tarpit_port}/{rng.getrandbits(64)}"
        yield client.status("POST", "/_matrix/push/v1/notify", {"notification": {
            "event_id": f"${rng.getrandbits(64)}", "counts": {"unread": 1},
            "devices": [{"app_id": "hostile", "pushkey": url}]}})


@attack("pushMessages", "resourceMessages", "addressMessages", clients=64)
def push_messages(world, number):
    """To many subscriptions, each of which has a rate, by so many clients that some are being accepted at any time."""
    subscription = world.subscriptions[number % len(world.subscriptions)]
    request = filled("POST", subscription, os.urandom(2000), ["ttl: 60", "content-encoding: aes128gcm"])
    yield from blast(world, request, stranger(number) if number % 2 else None)


@attack("unknownTargets", is_strangers=True)
def unknown_targets(world, number):
    client, rng = world.anonymous(), random.Random(number)
    while True:
        yield client.status("POST", f"/push/{rng.getrandbits(128):032x}", b"x", {"ttl": "60"})


@attack("chatSignIns", "chatConnections")
def chat(world, number):
    """Sessions at servers that accept connections and say nothing."""
    yield from sessions(world, number, "127.0.0.1", world.tarpit_port)


@attack("chatPushes", clients=4)
def chat_messages(world, number):
    """Sessions at a server that sends messages without end."""
    yield from sessions(world, number, "localhost", world.chat_server.port, 20)


def sessions(world, number, server, port, most=1000):
    """Adds sessions, as many as are wanted."""
    client, rng = world.client(number), random.Random(number)
    added = []
    try:
        while True:
            if len(added) >= most:
                time.sleep(0.1)
                yield HELD
                continue
            reply = client.ask("POST", f"/v1/apps/{APP}/sessions", {
                "user": f"user{rng.randrange(DEVICES)}", "protocol": "irc", "server": server, "port": port,
                "account": f"a{rng.getrandbits(32)}", "password": "x", "settings": {"authentication": "pass"}})
            if reply and reply.status == 201:
                added.append(json.loads(reply.body)["id"])
            yield reply and reply.status
    finally:
        for session in added:
            remove(client, f"/v1/apps/{APP}/sessions/{session}")


@attack("componentRegistrations")
def component_registrations(world, number):
    """Devices that register over XMPP, each of somebody else."""
    rng = random.Random(number)
    while True:
        user, token = f"u{rng.getrandbits(32)}@domain{number}.example", f"{rng.getrandbits(256):064x}"
        # The process that has made the link reads the answers.
        world.component.register(user, token, "phone", 0)
        yield "sent"


@attack("nameLookups", "newNameLookups", clients=1)
def name_lookups(world, number):
    """Webhooks with names that nobody has."""
    yield from hooks(world, lambda at: f"http://name{at}.invalid/hook")


@attack("webhookPosts", clients=1)
def webhook_posts(world, number):
    """Webhooks that never answer."""
    yield from hooks(world, lambda at: f"http://127.0.0.1:{world.tarpit_port}/{at}")


@attack("webhookRetries", clients=1)
def webhook_retries(world, number):
    """Webhooks at which nothing listens."""
    yield from hooks(world, lambda at: f"http://127.0.0.1:1/{at}")


def hooks(world, url):
    """Adds webhooks, and sends so that they have something to tell."""
    client, added = world.client(0), []
    try:
        for at in range(50):
            reply = client.ask("POST", f"/v1/apps/{APP}/webhooks", {"url": url(at)})
            if reply and reply.status == 201:
                added.append(json.loads(reply.body)["id"])
            yield reply and reply.status
        while True:
            yield client.status("POST", f"/v1/apps/{APP}/notifications", {
                "to": {"tokens": [world.rng.choice(world.tokens)]}, "environment": "sandbox", "alert": "x"})
    finally:
        for webhook in added:
            remove(client, f"/v1/webhooks/{webhook}")


@attack("logLines")
def log_lines(world, number):
    """Campaigns to nobody, each of which is told of."""
    client = world.client(number)
    while True:
        yield client.status("POST", f"/v1/apps/{APP}/notifications", {
            "to": {"tag": "nobody"}, "alert": "x", "environment": "sandbox"})


@attack(is_strangers=True)
def broken_requests(world, number):
    """Forms that break off, and requests that are none (findings A9)."""
    rng = random.Random(number)
    texts = [head("POST", "/dashboard/sign-in", ["content-length: 100"])[:-4] + b"\r\n\r\nname=", b"\x16\x03\x01 garbage\r\n\r\n",
             head("GET", "/v1/apps", ["authorization: Bearer mk_wrong"])]
    while True:
        try:
            opened(world.port, rng.choice(texts)).close()
            yield "left"
        except OSError:
            yield None

