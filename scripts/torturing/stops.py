"""The part that stops what is being sent: each kind of stop races with pushes in every stage."""

import threading
import time

from basics import APP, fail, figure, size
from provider import Provider
from pushservice import Answer, PushService
from stops_judge import Stop, complaints, strangers

KINDS = ["pause", "cancel", "app", "optOut", "erasure", "credential"]
# Seconds after which a push is answered, and after which one that is refused for now is tried again.
SECONDS = 0.15


class World:
    def __init__(self, options, rng):
        self.rng, self.service = rng, PushService(options.work, self.judge)
        self.provider = Provider(options, f"{options.work}/stops", self.service, ["--page", "100"])
        self.devices, self.people = size("STOP_DEVICES", 300), 0
        self.refused, self.tokens, self.stops, self.identities = set(), set(), [], []
        # The tokens of users who are erased.
        self.erased = set()

    def judge(self, environment, token, topic, apns_id):
        """A fifth is refused once, so that it waits for another try."""
        if int(token[:2], 16) % 5 == 0 and apns_id not in self.refused:
            self.refused.add(apns_id)
            return Answer(503, "ServiceUnavailable", 0.01)
        return Answer(200, None, SECONDS)

    def set_up(self):
        self.provider.start()
        self.provider.add_app(APP)
        self.crowd = [self.person(f"crowd{number}") for number in range(self.devices)]
        self.provider.register(APP, self.crowd)

    def person(self, user):
        token = f"{self.rng.getrandbits(256):064x}"
        self.tokens.add(token)
        return {"token": token, "environment": "sandbox", "user": user, "installation": f"installation-{token[:12]}"}

    def send(self, body):
        identity = self.provider.send(APP, {"environment": "sandbox", "consentCategory": "news", **body})
        self.identities.append(identity)
        return identity

    def burst(self, tokens, count):
        """Single pushes from several clients at the same time: some are being accepted while others are in flight."""
        sent, threads = [], []

        def work():
            for _ in range(count):
                sent.append(self.send({"to": {"tokens": [self.rng.choice(tokens)]}, "alert": "single"}))
        for _ in range(4):
            threads.append(threading.Thread(target=work))
            threads[-1].start()
        return sent, threads

    def round(self, kind):
        """Pushes in every stage, and a stop of them at a moment between the first and the last."""
        person = self.person(f"person{self.people}")
        self.people += 1
        self.provider.register(APP, [person])
        user, token = person["user"], person["token"]
        campaign = self.send({"to": {"all": True}, "alert": "campaign"})
        waiting = self.send({"to": {"tokens": [token]}, "alert": "later",
                             "when": {"at": int((time.time() + 1.2) * 1000)}})
        own = self.send({"to": {"user": user}, "alert": "own"}) if kind != "erasure" else None
        tokens = [token] if kind in ("optOut", "erasure") else [token, *[one["token"] for one in self.crowd[:20]]]
        singles, threads = self.burst(tokens, size("STOP_PUSHES", 6))
        time.sleep(self.rng.uniform(0, 0.4))
        getattr(self, kind)(user, token, campaign, [one for one in (waiting, own) if one])
        for thread in threads:
            thread.join()
        self.again(kind, user)
        self.provider.await_end(self.identities, 120)
        return singles

    def stop(self, kind, answer, tokens, identities=None):
        self.stops.append(Stop(kind, time.monotonic_ns(), answer["underWay"], tokens, identities))

    def resumed(self):
        """From now on what was stopped is sent again."""
        now = time.monotonic_ns()
        self.stops = [stop._replace(until=stop.until or now) for stop in self.stops]

    # Each stop, and what lets the rest go on.

    def change(self, name, identities):
        """Pauses or cancels what has not ended. A state that has come to its end meanwhile is no fault."""
        for identity in identities:
            status, answer = self.provider.call("POST", f"/v1/notifications/{identity}:{name}", {})
            if status == 200:
                self.stop(name, answer, None, [identity])
            elif status != 409:
                fail(f"{name}: {status} {answer}")

    def pause(self, user, token, campaign, others):
        self.changed = [campaign, *others, *self.identities[-8:]]
        self.change("pause", dict.fromkeys(self.changed))

    def cancel(self, user, token, campaign, others):
        self.change("cancel", dict.fromkeys([campaign, *others, *self.identities[-8:]]))

    def app(self, user, token, campaign, others):
        self.stop("app", self.provider.must("POST", f"/v1/apps/{APP}:pause", {}), None)
        time.sleep(0.3)

    def optOut(self, user, token, campaign, others):
        answer = self.provider.must("PUT", f"/v1/apps/{APP}/users/{user}/preferences", {"optOuts": ["news"]})
        self.stop("optOut", answer, {token})

    def erasure(self, user, token, campaign, others):
        # Pushes that name the token afterwards are new ones.
        self.erased.add(token)
        before = list(self.identities)
        answer = self.provider.must("DELETE", f"/v1/apps/{APP}/users/{user}")
        self.stop("erasure", answer, {token}, before)
        if answer["state"] == "erased" and answer["underWay"]:
            fail(f"erased, and {answer['underWay']} are under way")

    def credential(self, user, token, campaign, others):
        self.stop("credential", self.provider.must("DELETE", f"/v1/apps/{APP}/credentials/sandbox"), None)
        time.sleep(0.3)

    def again(self, kind, user):
        if kind == "pause":
            time.sleep(0.3)
            self.resumed()
            for identity in dict.fromkeys(self.changed):
                status, answer = self.provider.call("POST", f"/v1/notifications/{identity}:resume", {})
                if status not in (200, 409) or status == 409 and "cancelled" not in str(answer):
                    fail(f"resume: {status} {answer}")
        elif kind == "app":
            self.resumed()
            self.provider.must("POST", f"/v1/apps/{APP}:resume", {})
        elif kind == "credential":
            self.resumed()
            with open(f"{self.provider.options.work}/key.p8") as file:
                key = {"teamId": "DEF123GHIJ", "keyId": "ABC123DEFG", "privateKey": file.read()}
            self.provider.must("PUT", f"/v1/apps/{APP}/credentials/sandbox", key)


def stops(options, rng):
    world = World(options, rng)
    world.set_up()
    rounds = size("STOP_ROUNDS", 2)
    begin = time.monotonic()
    for number in range(rounds):
        for kind in KINDS:
            world.round(kind)
            print(f"torture: stops: {kind} {number + 1} of {rounds}", flush=True)
    answers = world.provider.await_end(world.identities, 120)
    ledger = {answer["id"]: world.provider.deliveries(answer["id"]) for answer in answers}
    world.provider.kill()
    pushes = list(world.service.received)
    found = complaints(world.stops, pushes, answers, ledger, world.erased) + strangers(pushes, world.tokens)
    figure("stops_tried", len(world.stops), f"stops of {len(KINDS)} kinds beside {len(world.identities)} notifications")
    figure("stops_under_way", sum(stop.under_way for stop in world.stops), "pushes that the answers named")
    figure("stops_received", len(pushes), "pushes that the push service received")
    figure("stops_seconds", time.monotonic() - begin, "s")
    if found:
        fail("\n".join(found[:20]))
