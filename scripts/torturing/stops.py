"""The part that stops what is being sent: each kind of stop races with pushes in every stage."""

import threading
import time

from basics import APP, fail, figure, size
from onlooker import Onlooker
from provider import Provider
from pushservice import Answer, PushService
from stops_judge import Stop, complaints, resumed, strangers

KINDS = ["pause", "cancel", "app", "optOut", "erasure", "credential"]
# Those after which the rest goes on.
LET_GO = ["pause", "app", "credential"]
# Seconds after which a push is answered, and for which something is stopped: what is due later becomes due meanwhile.
SECONDS, HOLD = 0.15, 1.2
PACES = [None, None, {"rate": 100}, {"waves": {"size": 60, "intervalSeconds": 1}}]
CLIENTS = 8


class World:
    def __init__(self, options, rng):
        self.devices, self.people = size("STOP_DEVICES", 300), 0
        # Few streams, so that most of a page waits for one.
        self.rng, self.service = rng, PushService(options.work, self.judge, streams=max(4, self.devices // 100))
        self.provider = Provider(options, f"{options.work}/stops", self.service, ["--page", "100"])
        self.onlooker = Onlooker(self.provider, options.seed)
        self.refused, self.tokens, self.stops, self.identities = {}, set(), [], []
        # The tokens to which single pushes go.
        self.single = set()
        # The tokens of users who are erased, and the notifications that went with them.
        self.erased, self.gone = set(), set()

    def judge(self, environment, token, topic, apns_id):
        """Single tokens are refused once or twice, so that they wait for another try; of the crowd fewer than would slow
        campaigns down."""
        number = int(token[:2], 16)
        self.refused[apns_id] = self.refused.get(apns_id, 0) + 1
        if self.refused[apns_id] <= (1 + number % 2 if token in self.single else number % 16 == 0):
            return Answer(503, "ServiceUnavailable", 0.01)
        return Answer(200, None, SECONDS)

    def set_up(self):
        self.provider.start()
        self.provider.add_app(APP)
        self.crowd = [self.person(f"crowd{number}") for number in range(self.devices)]
        self.provider.register(APP, self.crowd)
        # Nobody has registered these.
        self.named = [self.person("nobody")["token"] for _ in range(20)]
        self.single.update(self.named)
        self.onlooker.start()

    def person(self, user):
        token = f"{self.rng.getrandbits(256):064x}"
        self.tokens.add(token)
        return {"token": token, "environment": "sandbox", "user": user, "installation": f"installation-{token[:12]}"}

    def newcomer(self):
        person = self.person(f"person{self.people}")
        self.people += 1
        self.single.add(person["token"])
        self.provider.register(APP, [person])
        return person["user"], person["token"]

    def send(self, body, without_credential=False):
        """The id of a notification; None for one that is refused because the credential was removed."""
        body = {"environment": "sandbox", "consentCategory": "news", **body}
        status, answer = self.provider.call("POST", f"/v1/apps/{APP}/notifications", body)
        if without_credential and status == 409 and "missing_credential" in str(answer):
            return None
        if status != 202:
            fail(f"a notification: {status} {answer}")
        self.identities.append(answer["id"])
        return answer["id"]

    def burst(self, tokens, count, kind):
        """Single pushes from several clients at the same time: some are being accepted while others are in flight."""
        faults, threads = [], []

        def work(token):
            try:
                for _ in range(count):
                    self.send({"to": {"tokens": [token()]}, "alert": "single"}, kind == "credential")
            except Exception as error:
                faults.append(error)
        for number in range(CLIENTS):
            chosen = [self.rng.choice(tokens) for _ in range(count)]
            threads.append(threading.Thread(target=work, args=(iter(chosen).__next__,)))
            threads[-1].start()
        return faults, threads

    def round(self, kind):
        """Pushes in every stage, and a stop of them at a moment between the first and the last."""
        user, token = self.newcomer()
        first = len(self.identities)
        pace = self.rng.choice(PACES)
        campaign = self.send({"to": {"all": True}, "alert": "campaign",
                              "guarantee": self.rng.choice(["atLeastOnce", "atMostOnce"]), **({"pace": pace} if pace else {})})
        waiting = self.send({"to": {"tokens": [token]}, "alert": "later",
                             "when": {"at": int((time.time() + 0.8) * 1000)}})
        own = self.send({"to": {"user": user}, "alert": "own"})
        tokens = [token] if kind in ("optOut", "erasure") else [token, *self.named]
        self.onlooker.identities = [campaign, campaign, waiting, own]
        faults, threads = self.burst(tokens, size("STOP_PUSHES", 6), kind)
        time.sleep(self.rng.uniform(0, 0.4))
        self.onlooker.identities += self.identities[-8:]
        self.stop(kind, [campaign, waiting, own, *self.identities[-8:]], user, token)
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        time.sleep(HOLD)
        self.let_go(kind)
        self.await_end(self.identities[first:])
        self.onlooker.identities = []

    def windows(self, kinds):
        """What waits for its hours is stopped around the moment at which they begin."""
        opening = (int(time.time()) // 60 + 1) * 60
        opening += 60 if opening - time.time() < 3 else 0
        hours = [time.strftime("%H:%M", time.gmtime(moment)) for moment in (opening, opening + 1800)]
        races, first = [], len(self.identities)
        for kind in kinds:
            user, token = self.newcomer()
            tokens = [token] if kind in ("optOut", "erasure") else [token, *self.named[:9]]
            body = {"alert": "in its hours", "when": {"window": {"from": hours[0], "to": hours[1]}}}
            targets = [self.send({"to": {"tokens": tokens}, **body}), self.send({"to": {"user": user}, **body})]
            races.append((opening + self.rng.uniform(-0.2, 0.5), kind, targets, user, token))
        self.onlooker.identities = self.identities[first:]
        for moment, kind, *who in sorted(races, key=lambda race: race[0]):
            time.sleep(max(0, moment - time.time()))
            self.stop(kind, *who)
        time.sleep(HOLD)
        for kind in kinds:
            self.let_go(kind)
        self.await_end(self.identities[first:])
        self.onlooker.identities = []

    def await_end(self, identities):
        return self.provider.await_end([one for one in identities if one not in self.gone], 120)

    # Each stop, and what lets the rest go on.

    def stop(self, kind, targets, user, token):
        getattr(self, kind)(list(dict.fromkeys(targets)), user, token)

    def note(self, kind, asked, answer, tokens=None, identities=None, accepted=None):
        self.stops.append(Stop(kind, asked, time.monotonic_ns(), answer["underWay"], tokens, identities, accepted))

    def change(self, name, targets):
        """Pauses or cancels what has not ended: those that it stopped."""
        changed = []
        for identity in targets:
            asked = time.monotonic_ns()
            status, answer = self.provider.call("POST", f"/v1/notifications/{identity}:{name}", {})
            if status == 200:
                self.note(name, asked, answer, None, [identity], answer["counters"].get("accepted", 0))
                changed.append(identity)
            elif status != 409 or self.provider.must("GET", f"/v1/notifications/{identity}")["state"] not in ("done", "cancelled"):
                fail(f"{name}: {status} {answer}")
        return changed

    def pause(self, targets, user, token):
        self.paused = self.change("pause", targets)

    def cancel(self, targets, user, token):
        self.change("cancel", targets)

    def app(self, targets, user, token):
        asked = time.monotonic_ns()
        self.note("app", asked, self.provider.must("POST", f"/v1/apps/{APP}:pause", {}))

    def optOut(self, targets, user, token):
        asked = time.monotonic_ns()
        answer = self.provider.must("PUT", f"/v1/apps/{APP}/users/{user}/preferences", {"optOuts": ["news"]})
        self.note("optOut", asked, answer, {token})

    def erasure(self, targets, user, token):
        # Pushes that name the token afterwards are new ones.
        before, end = list(self.identities), time.monotonic() + 60
        self.erased.add(token)
        while True:
            asked = time.monotonic_ns()
            answer = self.provider.must("DELETE", f"/v1/apps/{APP}/users/{user}")
            self.note("erasure", asked, answer, {token}, before)
            if answer["state"] == "erased":
                break
            if time.monotonic() > end:
                fail(f"an erasure does not end: {answer}")
            time.sleep(0.1)
        # Those to the user alone are gone.
        for identity in targets:
            if self.provider.call("GET", f"/v1/notifications/{identity}")[0] == 404:
                self.gone.add(identity)

    def credential(self, targets, user, token):
        asked = time.monotonic_ns()
        self.note("credential", asked, self.provider.must("DELETE", f"/v1/apps/{APP}/credentials/sandbox"))

    def let_go(self, kind):
        """From now on what was stopped so is sent again."""
        if kind not in LET_GO:
            return
        self.stops = resumed(self.stops, kind, time.monotonic_ns())
        if kind == "pause":
            for identity in self.paused:
                self.provider.must("POST", f"/v1/notifications/{identity}:resume", {})
        elif kind == "app":
            self.provider.must("POST", f"/v1/apps/{APP}:resume", {})
        else:
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
    for kinds in (["pause", "cancel", "optOut", "erasure"], ["app"], ["credential"])[:size("STOP_WINDOWS", 3)]:
        world.windows(kinds)
        print(f"torture: stops: {', '.join(kinds)} as hours begin", flush=True)
    world.onlooker.end()
    answers = world.await_end(world.identities)
    ledger = {answer["id"]: world.provider.deliveries(answer["id"]) for answer in answers}
    world.provider.kill()
    pushes, looks = list(world.service.received), world.onlooker.looks
    found = complaints(world.stops, pushes, answers, ledger, world.erased, looks) \
        + strangers(pushes, world.tokens, world.identities)
    under_way = sum(stop.under_way for stop in world.stops)
    figure("stops_tried", len(world.stops), f"stops of {len(KINDS)} kinds beside {len(world.identities)} notifications")
    figure("stops_under_way", under_way, "pushes that the answers named")
    figure("stops_received", len(pushes), "pushes that the push service received")
    figure("stops_looks", len(looks), "looks at notifications meanwhile")
    figure("stops_seconds", time.monotonic() - begin, "s")
    if world.onlooker.faults:
        fail("\n".join(world.onlooker.faults[:20]))
    if not under_way or not looks:
        fail("no stop met anything under way, or nobody looked: the run proves nothing")
    if found:
        fail("\n".join(found[:20]))
