"""The hostile app and its means: keys from other addresses, connections that are held, a server that never answers."""

import base64
import os
import socket
import time
import urllib.parse

from apps_client import Client, stranger, with_key
from apps_doors import add_issue, add_person, sign_in
from basics import size

APP = "com.example.Hostile"
FORM_KEY = "k7Qz1yT9sW3eXa0P"
SECRET = "a-secret-of-the-bridge"
# Connections of each client that holds some; devices of the app.
CONNECTIONS, DEVICES = size("APP_CONNECTIONS", 75), size("APP_DEVICES", 600)
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
        add_person(provider, "hostile", [APP])
        self.cookie = sign_in(Client(self.port, stranger()), "hostile")
        self.installation = "5b0c9b0e-5d86-4c3b-9d3c-0b1e6b5c1a11"
        public = self.client(0, self.public_key)
        self.secret = public.json("PUT", f"{path}/installations/{self.installation}", {
            "token": self.token(), "environment": "sandbox"})["secret"]
        self.resource = urllib.parse.urlsplit(public.json(
            "POST", f"{path}/installations/{self.installation}/push-resources", {"name": "x"},
            {"installation-secret": self.secret})["endpoint"]).path

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


def opened(port, request, address=None):
    """A connection on which a request was written and nothing is read."""
    connection = socket.socket()
    # A reader that takes little.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(5)
    connection.bind((address or stranger(), 0))
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


def is_open(connection):
    """Whether the other end has not closed it. Nothing is read of what it sends."""
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def holding(world, request):
    """Holds connections, and opens new ones instead of those that are closed."""
    held = []
    try:
        while True:
            if len(held) >= CONNECTIONS:
                time.sleep(0.1)
                held = [connection for connection in held if is_open(connection)]
                yield HELD
                continue
            try:
                held.append(opened(world.port, request))
                yield "open"
            except OSError:
                yield None
    finally:
        for connection in held:
            connection.close()


def head(method, path, fields=()):
    return "".join([f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n", *(f"{field}\r\n" for field in fields), "\r\n"]).encode()


def identity(rng):
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


def pushkey(rng):
    return base64.b64encode(rng.getrandbits(256).to_bytes(32, "big")).decode()
