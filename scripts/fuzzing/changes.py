"""What requests did to devices: for each a change (registration.py) with what its answer says about that."""

import base64
import hashlib
import json

import registration
from registers import UNKNOWN
from registration import ENVIRONMENTS, NOT_NAMED, Entry, environment_of, hexadecimal

# These change devices, or show them.
CONCERNED = {"registerDevice", "registerDevices", "registerSelf", "importDevices", "deleteDevice", "deleteSelf", "deleteUser",
             "showDevice"}
# What cannot be told from the answer: the provider is asked for its devices.
ASK = "ask"


def token_of(body):
    """The token of a registration: that of a browser is made of the address of its subscription."""
    if isinstance(body.get("subscription"), dict):
        return hashlib.sha256(body["subscription"]["endpoint"].encode()).hexdigest()
    return hexadecimal(body["token"])


def entry_of(body, installation=None):
    """What a registration says that was accepted; with an installation, it is one that an installation made itself."""
    kind = "web" if body.get("subscription") else registration.ACTIVITY if body.get("activity") else body.get("kind")
    tags = frozenset(body["tags"]) if isinstance(body.get("tags"), list) else NOT_NAMED
    user = body.get("user", NOT_NAMED)
    if installation:
        user = proven(body["userProof"]) if "userProof" in body else NOT_NAMED
        tags = frozenset() if "tags" in body and body["tags"] is None else tags
    return Entry(environment_of(body), token_of(body), kind, body.get("activity"), installation or body.get("installation"),
                 user, tags, installation is not None)


def proven(text):
    """The user that a JWT names."""
    if text is None:
        return None
    try:
        part = text.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sub"]
    except (ValueError, IndexError, KeyError):
        return UNKNOWN


def imported(request):
    """The registrations of a file of one line in one of our own forms; None for any other file."""
    report, text = request.answer, (request.body or b"").decode("latin-1").strip()
    if not isinstance(report, dict) or request.query:
        return None
    if report["added"] + report["refreshed"] + report["replaced"] == 0:
        return []
    lines = text.split("\n")
    if text.startswith("token,user\n") and len(lines) == 2:
        bodies = [dict(zip(("token", "user"), lines[1].split(",")))]
    elif len(lines) == 1 and text.startswith("{"):
        bodies = [json.loads(text)]
    else:
        return None
    # The provider decides by itself what a text of other characters is.
    return [entry_of(body) for body in bodies] if text.isascii() else None


def operation_of(request):
    """What a request did that was answered, for `step`; None if it did nothing."""
    name, status = request.operation.id, request.status
    if status == 404 and name in ("deleteDevice", "showDevice", "registerDevice") and request.code == "no_such_device":
        # A device that another request removes meanwhile is registered, and is not found.
        return argument_of(request), {"deleteDevice": False, "showDevice": [], "registerDevice": None}[name]
    if status is None:
        return None if name == "showDevice" else (ASK, None)
    if not 200 <= status < 300:
        return None
    argument = argument_of(request)
    if argument is None:
        return ASK, None
    return argument, result_of(request)


def argument_of(request):
    name, body, path = request.operation.id, request.json, request.path
    if name == "registerDevice":
        return "register", [entry_of(body)]
    if name == "registerSelf":
        return "register", [entry_of(body, path["installation"])]
    if name == "registerDevices":
        return "register", [entry_of(entry) for entry, result in zip(body["devices"], request.answer["results"])
                            if result["result"] != "refused"]
    if name == "importDevices":
        entries = imported(request)
        return None if entries is None else ("register", entries)
    if name == "deleteSelf":
        return "delete installation", path["installation"]
    if name == "deleteUser":
        return "erase", path["user"]
    wanted = request.query.get("environment") if name == "deleteDevice" else None
    environments = ENVIRONMENTS if wanted is None else (environment_of({"environment": wanted}),)
    return "show" if name == "showDevice" else "delete token", (hexadecimal(path["token"]), environments)


def result_of(request):
    """What an answer says that was decided at the same moment as the change."""
    name, answer = request.operation.id, request.answer
    if name == "registerDevice":
        return ["added" if request.status == 201 else "again"]
    if name == "registerDevices":
        return [result["result"] for result in answer["results"] if result["result"] != "refused"]
    if name == "showDevice":
        return answer["devices"]
    return request.status == 200 if name == "deleteUser" else True
