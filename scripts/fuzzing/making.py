"""Requests: an operation, the ids that links brought, and values that its schemas allow, or do not."""

import hashlib
import json
import random

import mutation
from client import Step
from objects import KINDS
from values import Values
from world import APPS, CALM_USERS, DOOMED, USERS, to_json

# What the links bring is kept for so many requests; few, so that workers meet at the same things.
KEPT = 6
# Only what was made for it is deleted; these are made again and again.
RARE = {"deleteApp": 0.3, "deleteUser": 0.2, "deletePublication": 0.3, "endPersonSessions": 1, "testCredential": 0.1,
        "resumeApp": 1, "testWebhook": 0.3, "testEntitlementServer": 0.3, "deleteCredential": 0.3, "removeEntitlementServer": 0.4}
# What is asked every ten requests whatever happens, so that enough is sent.
OFTEN = {1: "registerDevice", 3: "send", 6: "send", 8: "registerDevice"}
MODELLED = {name for kind in KINDS for name in kind.roles}
CHUNK = b"fuzzed content of a file " * 4


class Maker:
    def __init__(self, document, world):
        self.document, self.world = document, world
        # For each operation the parameters that links brought, the newest last.
        self.linked = {}
        # The operations to choose from; None for all.
        self.only = None
        # What all workers ask for at the moment, and for how many more requests.
        self.focus, self.left = [], 0
        self.counts = {name: 0 for name in document.operations}

    def follow(self, request):
        """Keeps what the links of an answer say."""
        for target, parameters in request.operation.links.get(request.status, {}).items():
            values = {name: evaluated(expression, request) for name, expression in parameters.items()}
            if all(isinstance(value, str) and value for value in values.values()):
                kept = self.linked.setdefault(target, [])
                if values not in kept:
                    kept.append(values)
                    del kept[:-KEPT]
        self.learn(request)

    def learn(self, request):
        """What bodies and queries may name."""
        answer, name = request.answer, request.operation.id
        if not isinstance(answer, dict) or not 200 <= (request.status or 0) < 300:
            return
        if name in ("addTemplate", "send", "addSchedule", "addKey"):
            self.world.learn({"addTemplate": "template", "send": "notification", "addSchedule": "schedule",
                              "addKey": "key"}[name], answer["id"])
        if name == "addUserSecret":
            self.world.user_secrets[request.path["app"]] = answer["secret"]
        if name == "registerSelf":
            self.world.secrets[request.path["app"], request.path["installation"]] = answer["secret"]
        if name == "addAudience":
            self.world.learn("audienceName", answer["name"])
        if name in ("continueUpload", "listFiles", "uploadFile"):
            for file in answer.get("files", [answer]):
                if file.get("complete", True):
                    self.world.learn("file", file["sha256"])

    def choose(self, rng):
        """An operation: those that were asked less come more often, and those that end things come rarely."""
        if self.only is None and rng.random() < 0.5:
            return self.document.operations[rng.choice(self.focused(rng))]
        names = self.only or list(self.document.operations)
        weights = [RARE.get(name, 0.35 if self.document.operations[name].method == "DELETE" else 1)
                   * (3 if self.counts[name] < 5 else 1) * (3 if name in ("send", "registerDevice") else 1) for name in names]
        return self.document.operations[rng.choices(names, weights)[0]]

    def focused(self, rng):
        """The operations on one thing, which workers race for. In between notifications are sent and looked at."""
        self.left -= 1
        if self.left <= 0 or not self.focus:
            self.left = 30
            # Most of the time one of those whose changes are followed.
            names = list(self.linked) or ["send"]
            name = rng.choice([name for name in names if name in MODELLED and rng.random() < 0.9] or names)
            wanted = set(self.document.operations[name].path_names) - {"app"}
            self.focus = [name for name, operation in self.document.operations.items()
                          if wanted and wanted <= set(operation.path_names) and (
                              operation.method != "DELETE" or rng.random() < 0.3)] or ["send", "showNotification"]
        return self.focus if rng.random() < 0.8 else ["send", "showNotification", "registerDevice", "listDeliveries"]

    def make(self, rng, number):
        """The request of a step."""
        self.world.rng = rng
        often = None if self.only else OFTEN.get(number % 10)
        operation = self.document.operations[often] if often else self.choose(rng)
        self.counts[operation.id] += 1
        path = self.path(rng, operation)
        if often and rng.random() < 0.85:
            # Most of them go to the apps that can send.
            path["app"] = rng.choice(APPS)
        app = path.get("app", rng.choice(APPS))
        local = random.Random(rng.getrandbits(64))
        values = Values(self.document, local, self.world.hints(app))
        request = Step(operation=operation, path=path, query={}, headers={}, body=None, kind=None,
                       key=self.key(rng, operation, number))
        for item in operation.parameters:
            if item["in"] != "path" and rng.random() < 0.15 and item["name"] not in ("cursor", "user-proof"):
                if item["name"] == "installation-secret":
                    continue
                place = request.query if item["in"] == "query" else request.headers
                text = text_of(values.make(item["schema"], item["name"]))
                # A header field has no other characters.
                place[item["name"]] = text if item["in"] == "query" else text.encode("ascii", "replace").decode()
        if any(item["name"] == "installation-secret" for item in operation.parameters):
            secret = self.world.secrets.get((app, path.get("installation")))
            request.headers.update({"installation-secret": secret} if secret else {})
        if any(item["name"] == "user-proof" for item in operation.parameters) and rng.random() < 0.95:
            if proof := self.world.proof(app):
                request.headers["user-proof"] = proof
        self.body(rng, request, values)
        self.adjust(rng, request)
        if rng.random() < 0.25:
            self.spoil(rng, request)
        self.examine(request)
        return request

    def key(self, rng, operation, number):
        if operation.is_open:
            return None
        if number % 100 == 7:
            # However few steps there are, somebody without a key comes.
            return None
        if rng.random() < 0.02:
            return rng.choice([None, "read"])
        return "public" if operation.is_public else "admin"

    def path(self, rng, operation):
        linked = self.linked.get(operation.id)
        if linked and rng.random() < 0.92:
            path = dict(linked[-1] if operation.id in self.focus and rng.random() < 0.7 else rng.choice(linked))
        else:
            values = Values(self.document, rng, lambda *_: None)
            path = {item["name"]: text_of(values.make(item["schema"], item["name"]))
                    for item in operation.parameters if item["in"] == "path"}
            path.update(self.fitting(rng, operation, path))
        if path.get("key") in self.world.own:
            path["key"] = "00000000-0000-4000-8000-000000000000"
        if operation.id in ("deleteApp", "deleteCredential") and path["app"] in APPS:
            path["app"] = DOOMED[0]
        if operation.id in ("pauseApp", "setCredential") and path["app"] in APPS:
            path["app"] = APPS[1] if operation.id == "pauseApp" else rng.choice(DOOMED)
        return path

    def fitting(self, rng, operation, path):
        """What a path names without a link, most of the time."""
        if rng.random() < 0.03:
            return {}
        app = rng.choice(APPS)
        calm = operation.id in ("showBadge", "setBadge") or (
            operation.id in ("showPreferences", "setPreferences") and rng.random() < 0.5)
        choices = {"app": lambda: app, "user": lambda: rng.choice(CALM_USERS if calm else USERS),
                   "token": lambda: rng.choice(self.world.tokens[app]), "installation": lambda: f"installation-{rng.randrange(10)}",
                   "environment": lambda: rng.choice(["sandbox", "production"]), "bridge": lambda: rng.choice(["one", "two"]),
                   "screenSize": lambda: rng.choice(["2048x1536", "1024x768"]), "audience": lambda: f"named {rng.randrange(5)}",
                   "template": lambda: f"named {rng.randrange(5)}", "file": lambda: self.world.any("file") or path["file"]}
        return {name: choices[name]() for name in operation.path_names if name in choices}

    def body(self, rng, request, values):
        operation = request.operation
        if not operation.bodies or not operation.needs_body and rng.random() < 0.3:
            return
        request.kind = rng.choice(list(operation.bodies))
        schema = operation.bodies[request.kind]
        if request.kind == "application/json" and operation.id not in ("importDevices",):
            value = values.make(schema)
            # The path names the kind, which the settings have to fit; these fit most kinds, and connect to nothing.
            if operation.id == "setBridge" and isinstance(value, dict) and value.get("settings"):
                value["settings"] = {}
            request.body = to_json(value)
        else:
            request.body = self.content(rng, request)

    def content(self, rng, request):
        if request.operation.id == "importDevices":
            line = {"token": rng.choice(self.world.tokens[APPS[0]]), "user": rng.choice(USERS)}
            if "csv" in request.kind:
                return f"token,user\n{line['token']},{line['user']}\n".encode()
            return to_json(line) + b"\n"
        if request.kind == "image/png":
            return b"\x89PNG\r\n\x1a\n" + bytes(rng.randrange(256) for _ in range(30))
        return CHUNK

    def adjust(self, rng, request):
        """Values that depend on each other."""
        name = request.operation.id
        if name == "beginUpload" and request.body:
            request.body = to_json({**request.json, "size": len(CHUNK), "sha256": hashlib.sha256(CHUNK).hexdigest()})
        if name in ("send", "previewNotification", "broadcast") and rng.random() < 0.8:
            kept = {key: value for key, value in request.json.items() if key in (
                "to", "channel", "alert", "badge", "sound", "name", "environment", "guarantee", "pace", "urgent", "device",
                "priority", "expiresIn", "interruptionLevel", "quietHours", "consentCategory", "receipts", "collapseId")}
            request.body = to_json({"alert": "Hello", **kept} if name != "broadcast" else {
                **kept, "liveActivity": {"event": "update", "contentState": {}, "timestamp": 1}})
        if name in ("addTemplate", "saveTemplate") and request.body and rng.random() < 0.7:
            request.body = to_json({**request.json, "content": {"alert": {"title": f"Hello {rng.randrange(9)}"}}})
        if name in ("saveTemplate", "saveAudience", "addTemplate", "addAudience") and rng.random() < 0.7:
            request.body = to_json({key: value for key, value in request.json.items() if key != "version"})
        if name in ("restoreAudience", "restoreTemplate") and rng.random() < 0.8:
            request.body = to_json({"version": 1})
        if name in ("setCover", "setRendition") and rng.random() < 0.7:
            request.body = to_json({"file": hashlib.sha256(CHUNK).hexdigest()})
        if name == "continueUpload":
            request.headers["upload-offset"] = "0"
        if name == "uploadFile":
            request.query = {"name": f"file {rng.randrange(5)}"}
        if name == "pauseApp" and "app" in request.path and request.path["app"] == APPS[0]:
            request.path["app"] = APPS[1]
        if name == "registerSelf" and rng.random() < 0.9:
            body = {key: value for key, value in request.json.items()
                    if key not in ("secret", "userProof", "tags", "attributes", "subscription", "vapidKey", "kind", "activity")}
            secret = self.world.secrets.get((request.path["app"], request.path["installation"]))
            # An installation has a token of its own.
            token = hashlib.sha256(f"{request.path}".encode()).hexdigest()
            request.body = to_json({**body, "token": token, **({"secret": secret} if secret else {})})
        if name == "registerDevice" and rng.random() < 0.8:
            request.body = to_json({key: value for key, value in request.json.items()
                                    if key not in ("subscription", "vapidKey", "kind", "activity", "installation")})

    def spoil(self, rng, request):
        """One thing that is wrong, most of the time."""
        kinds = (["body"] * 5 + ["broken"]) if request.body is not None and request.kind == "application/json" else []
        kinds += ["query"] * 2 if any(item["in"] == "query" for item in request.operation.parameters) else []
        kinds += ["unknown"]
        if request.operation.bodies:
            kinds += ["no body", "content type"]
        kind = rng.choice(kinds)
        if kind == "body":
            try:
                request.body = to_json(mutation.mutated_body(rng, request.json))
            except ValueError:
                request.body = b"{"
        elif kind == "broken":
            request.body = mutation.broken(rng)
        elif kind == "query":
            item = rng.choice([item for item in request.operation.parameters if item["in"] == "query"])
            request.query[item["name"]] = mutation.mutated_text(rng, request.query.get(item["name"], ""))
        elif kind == "no body":
            request.body, request.kind = None, None
        elif kind == "content type":
            request.kind = rng.choice(["text/plain", "application/xml", "application/jsonx", "multipart/form-data"])
        else:
            request.query["unknown"] = "1"

    def examine(self, request):
        """What the document thinks of a request."""
        request.is_valid, request.why = True, None
        fault = self.fault(request)
        if fault:
            request.is_valid, request.why = False, fault

    def fault(self, request):
        schemas = {(item["in"], item["name"]): item["schema"] for item in request.operation.parameters}
        for place, values in (("path", request.path), ("query", request.query), ("header", request.headers)):
            for name, text in values.items():
                if (place, name) not in schemas:
                    return f"{name} is not known"
                if fault := self.document.parameter_fault(schemas[place, name], text):
                    return f"{name}: {fault}"
        if request.body and request.kind not in request.operation.bodies:
            return f"the content type {request.kind} is not known"
        if request.operation.bodies and request.kind == "application/json" and request.operation.id != "importDevices":
            if request.body is None or request.body == b"":
                return "there is no body" if request.operation.needs_body else None
            try:
                value = json.loads(request.body.decode())
            except (ValueError, RecursionError):
                return "the body is no JSON"
            return self.document.fault(request.operation.bodies[request.kind], value)
        if request.operation.needs_body and request.body is None:
            return "there is no body"
        return None


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def evaluated(expression, request):
    """The value of a runtime expression of OpenAPI; None without one."""
    if expression.startswith("$request.path."):
        return request.path.get(expression.removeprefix("$request.path."))
    value = request.answer
    for part in expression.removeprefix("$response.body#/").split("/"):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
