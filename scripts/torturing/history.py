"""The part in which several people administer the same things at the same time: their answers must fit into one order."""

import http.server
import random
import threading
import time

import history_models as models
from basics import APP, Failure, call, fail, figure, size
from history_runs import DueSchedules
from linear import Operation, first_impossible
from provider import Provider
from pushservice import PushService
from receiver import is_genuine
from shim import Clock

CLIENTS = 3


class Thing:
    """One thing that is administered, and the record of what was asked and answered."""

    def __init__(self, world, name, initial, model):
        self.world, self.name, self.initial, self.model, self.history = world, name, initial, model, []

    def do(self, name, argument, method, path, body, shown):
        """Asks, and writes down what was answered; `shown` makes of an answer what the model knows."""
        begin = time.monotonic_ns()
        status, answer = self.world.provider.call(method, path, body)
        if status is None or status >= 500:
            fail(f"{self.name}: {method} {path} is answered {status} {answer}")
        result = status, shown(answer) if status == 200 else None
        operation = Operation(begin, time.monotonic_ns(), name, argument, result)
        self.history.append(operation)
        return operation

    def complaint(self):
        if found := first_impossible(self.history, self.initial, self.model):
            near = [operation for operation in self.history if operation.answered > found.invoked - 5e7
                    and operation.invoked < found.answered + 1e6]
            return f"{self.name}: no order of {len(self.history)} requests explains {found}; near it: {near[:6]}"
        return None


class Webhook(Thing):
    def __init__(self, world, number):
        self.url = f"http://127.0.0.1:{world.receiver.server_port}/{number}"
        answer = world.provider.must("POST", f"/v1/apps/{APP}/webhooks", {"url": self.url})
        self.identity, self.number, self.rotations = answer["id"], number, []
        super().__init__(world, f"webhook {number}", self.shown(answer), models.fields)

    @staticmethod
    def shown(answer):
        return tuple(sorted((name, str(answer[name])) for name in ("url", "active", "events")))

    def turn(self, rng):
        path, kind = f"/v1/webhooks/{self.identity}", rng.randrange(8)
        if kind < 3:
            change = {"url": f"{self.url}?{rng.getrandbits(32)}"}
        elif kind == 3:
            change = {"events": rng.choice([["delivery"], ["delivery", "token"]])}
        elif kind == 4:
            return self.rotate(path)
        else:
            return self.do("read", None, "GET", path, None, self.shown)
        argument = tuple((name, str(value)) for name, value in change.items())
        return self.do("change", argument, "PATCH", path, change, self.shown)

    def rotate(self, path):
        begin = time.monotonic_ns()
        status, answer = self.world.provider.call("POST", f"{path}:rotate")
        self.rotations.append(Operation(begin, time.monotonic_ns(), "rotate", None,
                                        (status, answer.get("secret") if answer else None)))

    def signature_complaint(self):
        """What is posted from now on is signed with the secret that was shown last."""
        secrets = models.possible_secrets(self.rotations)
        self.world.posts.pop(self.number, None)
        end = time.monotonic() + 15
        while secrets and time.monotonic() < end:
            self.world.push()
            time.sleep(0.2)
            if post := self.world.posts.get(self.number):
                if any(is_genuine(post[0], post[1], secret) for secret in secrets):
                    return None
                return f"{self.name}: {len(self.rotations)} rotations were answered, and none of the last secrets signs"
        return f"{self.name}: nothing is posted any more" if secrets else None


class Schedule(Thing):
    def __init__(self, world, number):
        self.number = number
        answer = world.provider.must("POST", f"/v1/apps/{APP}/schedules", self.body("0 3 1 1 *", "new"))
        self.identity = answer["id"]
        super().__init__(world, f"schedule {number}", self.shown(answer), models.fields)

    def body(self, cron, text):
        return {"name": f"schedule {text}", "schedule": {"cron": cron, "timeZone": "UTC"},
                "notification": {"to": {"all": True}, "alert": text}}

    @staticmethod
    def shown(answer):
        return (("alert", str(answer["notification"]["alert"])), ("cron", answer["schedule"]["cron"]),
                ("name", answer["name"]), ("paused", str(answer["paused"])))

    def turn(self, rng):
        path, kind = f"/v1/schedules/{self.identity}", rng.randrange(6)
        if kind < 2:
            cron, text = f"{rng.randrange(60)} 3 1 1 *", f"{rng.getrandbits(32)}"
            argument = (("alert", text), ("cron", cron), ("name", f"schedule {text}"))
            return self.do("change", argument, "PUT", path, self.body(cron, text), self.shown)
        if kind < 4:
            word = ["pause", "resume"][kind - 2]
            argument = (("paused", str(word == "pause")),)
            return self.do("change", argument, "POST", f"{path}:{word}", None, self.shown)
        return self.do("read", None, "GET", path, None, self.shown)


class Notification(Thing):
    def __init__(self, world, number):
        members = [{"when": {"at": int((time.time() + 86_400) * 1000)}}, {"pace": {"rate": 1}}][number % 2]
        self.identity, self.left = world.provider.send(APP, {"to": {"all": True}, "alert": "history", **members}), 30
        super().__init__(world, f"notification {number}", "going", models.progress)

    @staticmethod
    def shown(answer):
        return answer["state"] if answer["state"] in ("paused", "cancelled", "done") else "going"

    def turn(self, rng):
        path, self.left = f"/v1/notifications/{self.identity}", self.left - 1
        word = rng.choice(["pause", "resume", "read"]) if self.left > 0 or rng.randrange(10) else "cancel"
        if word == "read":
            return self.do("read", None, "GET", path, None, self.shown)
        return self.do(word, None, "POST", f"{path}:{word}", None, self.shown)


class Keys(Thing):
    """In each round two keys delete each other, which only one of them can do."""

    def __init__(self, world):
        self.texts, self.identities = {"first": world.provider.key}, {}
        listed = world.provider.must("GET", "/v1/keys")["keys"]
        self.identities["first"] = next(key["id"] for key in listed if "admin" in key["scopes"])
        super().__init__(world, "keys", frozenset(), models.keys)

    def call(self, by, method, path, body=None):
        return call(self.world.provider.port, method, path, body, {"authorization": f"Bearer {self.texts[by]}"})

    def issue(self, by, name):
        status, answer = self.call(by, "POST", "/v1/keys", {"name": name, "scopes": ["admin"]})
        if status != 201:
            fail(f"a key cannot be made with a key that was not deleted: {status} {answer}")
        self.texts[name], self.identities[name] = answer["key"], answer["id"]

    def delete(self, by, target):
        begin = time.monotonic_ns()
        status, _ = self.call(by, "DELETE", f"/v1/keys/{self.identities[target]}")
        self.history.append(Operation(begin, time.monotonic_ns(), "delete", (by, target), (status,)))

    def rounds(self, count):
        """Complaints; after the first one it ends."""
        left = "first"
        for number in range(count):
            names, self.history = [left, f"key {number}"], []
            self.issue(left, names[1])
            threads = [threading.Thread(target=self.delete, args=pair) for pair in (names, reversed(names))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.initial = frozenset(names)
            found = self.complaint()
            left = next((name for name in names if self.call(name, "GET", "/v1/apps")[0] == 200), None)
            if left is None or found:
                return [found or f"keys: no admin key is left: {self.history}"]
        return []


class World:
    def __init__(self, options, rng):
        self.rng, self.posts, world = rng, {}, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                world.posts[int(self.path[1:].partition("?")[0])] = self.headers["martlet-signature"], body
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.clock = Clock(options.work)
        self.provider = Provider(options, f"{options.work}/history", PushService(options.work), ["--page", "20"],
                                 self.clock.variables)
        self.provider.start()
        self.provider.add_app(APP)
        self.provider.register(APP, [{"token": f"{rng.getrandbits(256):064x}", "environment": "sandbox"}
                                     for _ in range(200)])
        self.failure, self.is_over = None, False

    def push(self):
        """Something to tell the webhooks."""
        self.provider.send(APP, {"to": {"tokens": [f"{random.getrandbits(256):064x}"]}, "environment": "sandbox",
                                 "alert": "history"})

    def work(self, turn, count):
        try:
            for _ in range(count):
                if self.is_over:
                    return
                turn()
        except Failure as failure:
            self.failure = failure


def history(options, rng):
    world, count = World(options, rng), size("HISTORY_OPERATIONS", 25)
    things = [Webhook(world, 0), Webhook(world, 1), Schedule(world, 0), Schedule(world, 1), *(
        Notification(world, number) for number in range(3))]
    clients = []
    for thing in things:
        for _ in range(CLIENTS):
            client = random.Random(rng.random())
            clients.append(threading.Thread(
                target=world.work, args=[lambda thing=thing, client=client: thing.turn(client), count]))
    busy = threading.Thread(target=world.work, args=[world.push, 10 ** 9])
    for thread in [busy, *clients]:
        thread.start()
    for thread in clients:
        thread.join()
    world.is_over = True
    busy.join()
    if world.failure:
        raise world.failure
    found = [thing.complaint() for thing in things]
    found += [thing.signature_complaint() for thing in things if isinstance(thing, Webhook)]
    due = DueSchedules(world.provider, world.clock, rng)
    found += [complaint for _ in range(size("HISTORY_TURNS", 3)) for complaint in due.round()]
    found += Keys(world).rounds(size("HISTORY_KEYS", 15))
    world.provider.kill()
    found = [complaint for complaint in found if complaint]
    figure("history_operations", sum(len(thing.history) for thing in things), f"requests by {len(clients)} clients")
    figure("history_rotations", sum(len(thing.rotations) for thing in things[:2]), "secrets rotated meanwhile")
    figure("history_impossible", len(found), "things whose answers fit into no order, must be 0")
    if found:
        fail("\n".join(complaint[:1500] for complaint in found))
