"""Web Push by other implementations, for scripts/conformance-webpush: pywebpush and webpush send, http_ece and PyJWT receive.

webpush_peers.py keys FILE                            makes the keys of a subscription, and prints them as browsers do
webpush_peers.py open FILE                            prints the content of a payload on the standard input; with --body FILE of that body
webpush_peers.py receive PORT LOG FILE                is a push service that opens each message and writes it as a line of JSON
webpush_peers.py send LIBRARY ENDPOINT FILE VAPID     sends the standard input with pywebpush, pywebpush-aesgcm or webpush; prints the status
"""

import base64
import http.server
import json
import os
import sys
import time

import http_ece
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def public_bytes(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def make_keys(path: str) -> dict:
    key = ec.generate_private_key(ec.SECP256R1())
    auth = encode(os.urandom(16))
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    keys = {"p256dh": encode(public_bytes(key.public_key())), "auth": auth}
    with open(path, "w") as file:
        json.dump({"private": pem, **keys}, file)
    return keys


def open_body(keys: dict, body: bytes, salt: str = "", sender: str = "") -> str:
    private = serialization.load_pem_private_key(keys["private"].encode(), None)
    auth = decode(keys["auth"])
    if salt:
        content = http_ece.decrypt(
            body, salt=decode(salt), private_key=private, dh=decode(sender), auth_secret=auth, version="aesgcm"
        )
    else:
        content = http_ece.decrypt(body, private_key=private, auth_secret=auth, version="aes128gcm")
    return content.decode()


def check_vapid(authorization: str, origin: str) -> dict:
    scheme, parameters = authorization.split(" ", 1)
    if scheme != "vapid":
        raise ValueError(scheme)
    values = dict(part.strip().split("=", 1) for part in parameters.split(","))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(values["k"]))
    claims = jwt.decode(values["t"], key, algorithms=["ES256"], audience=origin)
    if claims["exp"] > time.time() + 24 * 3600:
        raise ValueError("exp")
    return {"key": values["k"], "sub": claims["sub"]}


class Service(http.server.BaseHTTPRequestHandler):
    """A push service: the answer is in the path, such as /answer/410."""

    protocol_version = "HTTP/1.1"
    keys: dict = {}
    log = ""

    def note(self, entry: dict) -> None:
        with open(self.log, "a") as file:
            file.write(json.dumps(entry) + "\n")

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def parameter(self, header: str, name: str) -> str:
        """A parameter of the headers that the coding aesgcm has; empty without it."""
        parts = self.headers.get(header, "").replace(";", ",").split(",")
        return next((part.strip()[len(name) + 1 :] for part in parts if part.strip().startswith(f"{name}=")), "")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        entry = {"method": "POST", "path": self.path}
        for name in ("ttl", "urgency", "topic", "content-encoding"):
            entry[name] = self.headers.get(name)
        try:
            origin = f"http://{self.headers['host']}"
            entry["vapid"] = check_vapid(self.headers.get("authorization", ""), origin)
            salt, sender = self.parameter("encryption", "salt"), self.parameter("crypto-key", "dh")
            entry["content"] = json.loads(open_body(self.keys, body, salt, sender))
        except Exception as error:  # Everything that does not fit is a finding.
            entry["error"] = repr(error)
        self.note(entry)
        status = int(self.path.rsplit("/", 1)[1]) if self.path.startswith("/answer/") else 201
        self.answer(status, b'{"reason":"VapidPkHashMismatch"}' if status == 403 else b"")

    def do_DELETE(self) -> None:
        self.note({"method": "DELETE", "path": self.path})
        self.answer(200)

    def log_message(self, *_: object) -> None:
        pass


def receive(port: int, log: str, keys: dict) -> None:
    Service.keys, Service.log = keys, log
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Service).serve_forever()


def send(library: str, endpoint: str, keys: dict, vapid: str, data: str, headers: dict) -> int:
    subscription = {"endpoint": endpoint, "keys": {"p256dh": keys["p256dh"], "auth": keys["auth"]}}
    if library == "webpush":
        import requests
        from webpush import WebPush, WebPushSubscription

        with open(vapid, "rb") as file:
            pem = file.read()
        public = serialization.load_pem_private_key(pem, None).public_key()
        public_pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        sender = WebPush(private_key=pem, public_key=public_pem, subscriber="ops@example.org", ttl=60)
        message = sender.get(data, WebPushSubscription.model_validate(subscription))
        return requests.post(endpoint, data=message.encrypted, headers={**message.headers, **headers}, timeout=30).status_code
    from pywebpush import WebPushException, webpush

    try:
        response = webpush(
            subscription,
            data,
            vapid_private_key=vapid,
            vapid_claims={"sub": "mailto:ops@example.org"},
            content_encoding="aesgcm" if library == "pywebpush-aesgcm" else "aes128gcm",
            ttl=60,
            headers=headers,
            timeout=30,
        )
        return response.status_code
    except WebPushException as error:
        return error.response.status_code if error.response is not None else 0


def read_keys(path: str) -> dict:
    with open(path) as file:
        return json.load(file)


def main() -> None:
    command, *arguments = sys.argv[1:]
    if command == "keys":
        print(json.dumps(make_keys(arguments[0])))
    elif command == "open":
        payload = json.load(sys.stdin)
        body = decode(payload.get("wp", ""))
        if arguments[1:2] == ["--body"]:
            with open(arguments[2], "rb") as file:
                body = file.read()
        print(open_body(read_keys(arguments[0]), body, payload.get("wpsalt", ""), payload.get("wpdh", "")))
    elif command == "receive":
        receive(int(arguments[0]), arguments[1], read_keys(arguments[2]))
    elif command == "send":
        headers = dict(line.split(": ", 1) for line in arguments[4:])
        print(send(arguments[0], arguments[1], read_keys(arguments[2]), arguments[3], sys.stdin.read(), headers))
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main()
