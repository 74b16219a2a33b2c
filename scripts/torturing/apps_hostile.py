"""The hostile app and its means: keys from other addresses, connections that are held, a server that never answers."""

import base64
import hashlib
import os
import re
import select
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

from apps_client import Client, Refused, stranger, with_key
from apps_doors import add_issue, add_person, sign_in
from basics import size
from component import ComponentServer

APP = "com.example.Hostile"
FORM_KEY = "k7Qz1yT9sW3eXa0P"
SECRET = "a-secret-of-the-bridge-that-is-long-enough"
# Connections of each client that holds some; devices of the app, so many that a costly count takes its time.
CONNECTIONS, DEVICES = size("APP_CONNECTIONS", 75), size("APP_HOSTILE_DEVICES", 20_000)
COMPONENT = "push.hostile.example"
# Long templates of the app, many more than a page has.
TEMPLATES = size("APP_TEMPLATES", 50)
# Web Push addresses of one installation; a public key makes 40 requests at once.
SUBSCRIPTIONS = 30
LOCALES = "cs da de el es et fi fr hr hu it nl pl pt ro".split()
# Said in place of a status while an attack only holds what it has.
HELD = object()


class Hostile:
    """The hostile app: its keys, devices, bridges and issue, and a server that never answers."""

    def __init__(self, provider, rng):
        self.provider, self.rng, self.port = provider, rng, provider.port
        # Connections wait here to be accepted, for ever.
        self.tarpit = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.tarpit_port = self.tarpit.getsockname()[1]
        provider.add_app(APP)
        self.keys = [self.key(["read", "send", "register", "operate"]) for _ in range(9)]
        self.public_key = self.key(["registerSelf"])
        self.tokens = [self.token() for _ in range(DEVICES)]
        provider.register(APP, [{
            "token": token, "environment": "sandbox", "user": f"user{number}",
            "attributes": {"level": number % 50, "city": f"city {number}"}} for number, token in enumerate(self.tokens)])
        self.product = add_issue(provider, APP, os.urandom(8 * 1024 * 1024), "com.example.hostile1", "free")
        self.retail = add_issue(provider, APP, b"retail", "com.example.hostile2", "retail")
        path = f"/v1/apps/{APP}"
        url = f"http://127.0.0.1:{self.tarpit_port}/"
        provider.must("PUT", f"{path}/entitlement", {"url": url, "whenDown": "allow"})
        provider.must("PUT", f"{path}/bridges/matrix/hostile", {
            "environment": "sandbox", "settings": {"unifiedPush": True}})
        provider.must("PUT", f"{path}/bridges/gorush/{APP}", {"environment": "sandbox", "secret": SECRET})
        provider.must("PUT", f"{path}/bridges/gorush/default", {
            "environment": "sandbox", "secret": SECRET, "settings": {"feedbackHook": url}})
        for number in range(TEMPLATES):
            # 60 kB: each payload has as much as a device may get.
            provider.must("PUT", f"{path}/templates/template{number}", {"content": {
                "alert": {"title": "Hello", "body": "Hello"},
                "localizations": {locale: {"body": "x" * 4000} for locale in LOCALES}}})
        self.old_provider = OldProvider(provider)
        self.component = ComponentServer(COMPONENT, SECRET, "hostile.example")
        provider.must("PUT", f"{path}/bridges/xmpp/{COMPONENT}", {"environment": "sandbox", "secret": SECRET, "settings": {
            "host": "127.0.0.1", "port": self.component.port, "registration": ["p2"]}})
        if not self.component.wait_for_link():
            raise Refused("the hostile component does not come")
        self.chat_server = FloodingServer(provider.options.work)
        add_person(provider, "hostile", [APP])
        self.cookie = sign_in(Client(self.port, stranger()), "hostile")
        self.installation = "5b0c9b0e-5d86-4c3b-9d3c-0b1e6b5c1a11"
        public = self.client(0, self.public_key)
        self.secret = public.json("PUT", f"{path}/installations/{self.installation}", {
            "token": self.token(), "environment": "sandbox"})["secret"]
        self.subscriptions = [urllib.parse.urlsplit(public.json(
            "POST", f"{path}/installations/{self.installation}/push-resources", {"name": f"x{number}"},
            {"installation-secret": self.secret})["endpoint"]).path for number in range(SUBSCRIPTIONS)]

    def key(self, scopes):
        return self.provider.must("POST", "/v1/keys", {"name": "hostile", "scopes": scopes, "apps": [APP]})["key"]

    def token(self):
        return f"{self.rng.getrandbits(256):064x}"

    def client(self, number, key=None, address=None, timeout=20):
        """All clients of the app have one address unless another one is given."""
        return Client(self.port, address or stranger(), with_key(key or self.keys[number % len(self.keys)]), timeout)

    def anonymous(self, address=None, timeout=20):
        return Client(self.port, address or stranger(), timeout=timeout)

    def file(self):
        """The signed address of the file, which everybody gets with the public key."""
        path = f"/v1/apps/{APP}/issues/{self.product}:download"
        url = self.client(0, self.public_key).json("POST", path, {"screenSize": "2048x1536"})["url"]
        return urllib.parse.urlsplit(url)._replace(scheme="", netloc="").geturl()


class OldProvider:
    """A certificate of the hostile app, with which it holds connections of the binary protocol."""

    def __init__(self, provider):
        folder = provider.options.work
        certificate, key = f"{folder}/old.pem", f"{folder}/old.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        f"/UID={APP}/CN=Apple Push Services: {APP}", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        with open(certificate) as file:
            text = "".join(line for line in file.read().splitlines() if "-----" not in line)
        fingerprint = hashlib.sha256(base64.b64decode(text)).hexdigest()
        provider.must("PUT", f"/v1/apps/{APP}/bridges/binary/{APP}", {
            "environment": "sandbox", "settings": {"certificates": [fingerprint]}})
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.context.load_cert_chain(certificate, key)
        self.port = int(re.search(r'"binary":"[^"]*:(\d+)', provider.text())[1])

    def connect(self, address):
        connection = socket.create_connection(("127.0.0.1", self.port), 10, (address, 0))
        return self.context.wrap_socket(connection)


class FloodingServer:
    """A chat server (IRC) that lets everybody in and then sends messages to them as fast as they are taken."""

    def __init__(self, work):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f"{work}/server.pem", f"{work}/server.key")
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            link, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        try:
            link = self.context.wrap_socket(link, server_side=True)
            text = b""
            while not (nick := re.search(rb"NICK (\S+)\r?\n", text)) or b"USER " not in text:
                content = link.recv(4096)
                if not content:
                    return
                text += content
            name = nick[1]
            link.sendall(b":s 001 " + name + b" :Welcome\r\n:s 376 " + name + b" :End\r\n")
            flood = b"".join(b":someone!u@h PRIVMSG " + name + b" :message %d\r\n" % number for number in range(50))
            while True:
                link.sendall(flood)
                time.sleep(0.01)
        except OSError:
            link.close()


def opened(port, request, address=None):
    """A connection on which a request was written and nothing is read."""
    connection = socket.socket()
    # A reader that takes little.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(5)
    try:
        connection.bind((address or stranger(), 0))
        connection.connect(("127.0.0.1", port))
        connection.sendall(request)
    except OSError:
        connection.close()
        raise
    return connection


def reset(port, address):
    """Opens a connection and resets it, so that no port of the address waits for its end."""
    try:
        with socket.create_connection(("127.0.0.1", port), 10, (address, 0)) as connection:
            # The listener has the time to find its address.
            time.sleep(0.002)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return "opened"
    except OSError:
        return None


def remove(client, path, method="DELETE"):
    """Removes what an attack has made, however often that exceeds a rate: what is left would go on beside the next attack."""
    end = time.monotonic() + 60
    while client.status(method, path) in (None, 429, 503) and time.monotonic() < end:
        time.sleep(0.1)


def is_open(connection):
    """Whether the other end has not closed it, even if something of it has not been read. Nothing is read."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP | select.POLLERR | select.POLLHUP)
    return not poll.poll(0)


def holding(world, request, number=0):
    """Holds connections on which a request was written. Clients of even numbers have one address, the others have many."""
    yield from keeping(lambda address: opened(world.port, request, address), number)


def keeping(connect, number):
    """Holds connections, and opens new ones instead of those that are closed."""
    held, count = [], 0
    try:
        while True:
            if len(held) >= CONNECTIONS:
                time.sleep(0.1)
                kept = [connection for connection in held if is_open(connection)]
                for connection in set(held) - set(kept):
                    connection.close()
                held = kept
                yield HELD
                continue
            count += 1
            try:
                address = stranger(1 + (number * CONNECTIONS + count) % 10_000) if number % 2 else None
                held.append(connect(address or stranger()))
                yield "open"
            except OSError:
                yield None
    finally:
        for connection in held:
            connection.close()


def blast(world, request, address=None, times=100):
    """Sends a request again and again over one connection without waiting for the answers, and yields their statuses."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", world.port), 10, (address or stranger(), 0)) as connection:
                connection.sendall(request * times)
                left, rest = times, b""
                while left > 0:
                    content = connection.recv(65536)
                    if not content:
                        break
                    rest += content
                    end = 0
                    for answer in re.finditer(rb"HTTP/1\.1 (\d{3})", rest):
                        left, end = left - 1, answer.end()
                        yield int(answer[1])
                    # No more than the beginning of an answer.
                    rest = rest[max(end, len(rest) - 11):]
        except OSError:
            yield None


def filled(method, path, content, fields=()):
    """A request with a body."""
    return head(method, path, [*fields, f"content-length: {len(content)}"]) + content


def head(method, path, fields=()):
    return "".join([f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n", *(f"{field}\r\n" for field in fields), "\r\n"]).encode()


def identity(rng):
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def pushkey(rng):
    return base64.b64encode(rng.getrandbits(256).to_bytes(32, "big")).decode()
