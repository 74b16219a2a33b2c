"""Encrypted content by another implementation of HPKE (pyhpke), for scripts/conformance.

hpke.py key FILE                          makes a key pair, and prints the member encryptionKey of a registration
hpke.py open FILE APP                     prints the content of a payload on the standard input
hpke.py seal ID PUBLIC APP NOTIFICATION   prints a payload that contains that on the standard input, encrypted to a base64 key
"""

import base64
import json
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey

SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.CHACHA20_POLY1305)
INFO = b"martlet push 1"


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def authenticated(app: str, notification: str) -> bytes:
    return f"{app}\n{notification}".encode()


def make_key(path: str) -> dict:
    key = X25519PrivateKey.generate()
    with open(path, "wb") as file:
        file.write(key.private_bytes_raw())
    return {"id": "pyhpke-1", "key": text(key.public_key().public_bytes_raw())}


def open_payload(path: str, app: str, payload: dict) -> dict:
    with open(path, "rb") as file:
        key = KEMKey.from_pyca_cryptography_key(X25519PrivateKey.from_private_bytes(file.read()))
    martlet = payload["martlet"]
    data = base64.b64decode(martlet["sealed"]["data"], validate=True)
    context = SUITE.create_recipient_context(data[:32], key, info=INFO)
    return json.loads(context.open(data[32:], aad=authenticated(app, martlet["id"])))


def seal_payload(key_id: str, public: str, app: str, notification: str, content: str) -> dict:
    key = KEMKey.from_pyca_cryptography_key(X25519PublicKey.from_public_bytes(base64.b64decode(public)))
    enc, context = SUITE.create_sender_context(key, info=INFO)
    data = enc + context.seal(content.encode(), aad=authenticated(app, notification))
    return {
        "aps": {"alert": {"title": "New message"}, "mutable-content": 1},
        "martlet": {"id": notification, "sealed": {"key": key_id, "data": text(data)}},
    }


match sys.argv[1:]:
    case ["key", path]:
        result = make_key(path)
    case ["open", path, app]:
        result = open_payload(path, app, json.load(sys.stdin))
    case ["seal", key_id, public, app, notification]:
        result = seal_payload(key_id, public, app, notification, sys.stdin.read())
    case _:
        sys.exit(__doc__)
print(json.dumps(result))
