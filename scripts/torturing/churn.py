"""The part in which people change their devices while campaigns go on for a while."""

import collections
import datetime
import random
import threading
import time

from basics import APP, fail, figure, size
from churn_judge import complaints
from people import USERS, ZONES, Person
from provider import Provider
from pushservice import Answer, PushService
from worker import Worker

BAD = Answer(400, "BadDeviceToken", 0.002)


class Churn:
    """Events happen to one person after the other; at most a few per person, so that each can be followed."""

    def __init__(self, options, rng):
        self.rng = rng
        self.people = [Person(number, random.Random(rng.random())) for number in range(size("CHURN_DEVICES", 500))]
        # The environment in which a token is good.
        self.homes, self.events = {}, collections.Counter()
        self.service = PushService(options.work, self.judge)
        # Pages are small, so that much happens between them. The breaker is not what is tried here.
        self.provider = Provider(options, f"{options.work}/churn", self.service,
                                 ["--page", "20", "--breaker-minimum", "100000", "--breaker-memory", "100000"])
        self.is_over = False

    def judge(self, environment, token, *_):
        if self.homes.get(token) != environment:
            return BAD
        return Answer(200, None, self.delays.random() * 0.05)

    def start(self):
        self.delays = random.Random(self.rng.random())
        self.provider.start()
        self.provider.add_app(APP)
        bodies = []
        for person in self.people:
            self.homes.update((token, person.environment) for token in person.tokens)
            bodies.append(person.registration(token=person.tokens[0]))
            if person.is_in_both:
                bodies.append(self.without_installation(person, environment=self.other(person)))
            if person.is_split:
                bodies.append(self.without_installation(person))
        self.rng.shuffle(bodies)
        self.provider.register(APP, bodies)

    @staticmethod
    def without_installation(person, **changes):
        body = person.registration(**changes)
        body.pop("installation", None)
        return body

    @staticmethod
    def other(person):
        return "production" if person.environment == "sandbox" else "sandbox"

    def campaigns(self):
        """Several at the same time, each for some seconds."""
        soon = datetime.datetime.fromtimestamp(
            int(time.time()) + 4, datetime.timezone(datetime.timedelta(hours=-10))).strftime("%Y-%m-%dT%H:%M:%S")
        pace = {"rate": max(20, len(self.people) // 8)}
        bodies = [
            {"to": {"all": True}, "pace": pace},
            {"to": {"tag": "everybody"}, "pace": pace, "guarantee": "atMostOnce"},
            {"to": {"users": USERS}, "pace": pace},
            {"to": {"all": True}, "when": {"localTime": soon, "past": "send"}, "pace": pace},
        ]
        return [self.provider.send(APP, {**body, "alert": "churn"}) for body in bodies]

    def run(self, people):
        """Everything happens until the campaigns have ended."""
        people, known = people * 2, set()
        self.rng.shuffle(people)
        events = [self.new_token, self.moved, self.relogin, self.relogin, self.renewed, self.gone, self.other_user,
                  self.other_zone, self.other_zone]
        for person in people:
            if self.is_over:
                return
            if not person.has_left:
                # What was restored says so before anything else happens to it.
                event = self.joined if person.is_split and person not in known else self.rng.choice(events)
                known.add(person)
                self.events[event.__name__] += event(person) is not False
            time.sleep(self.rng.random() * 8 / len(people))

    def put(self, person, **changes):
        self.homes[person.token] = person.environment
        self.provider.must("POST", f"/v1/apps/{APP}/devices", person.registration(**changes))

    def remove(self, person):
        status, answer = self.provider.call("DELETE", f"/v1/apps/{APP}/devices/{person.token}")
        if status != 204:
            fail(f"a device cannot be removed: {status} {answer}")

    def new_token(self, person):
        """The same installation has another token from now on."""
        if not self.may_change_token(person):
            return False
        person.change_token()
        self.put(person)

    @staticmethod
    def may_change_token(person):
        """Nobody could know that the row in the other environment, without an installation, is the same device."""
        return person.installation and not person.is_in_both

    def joined(self, person):
        """The installation says that the token, which stands at another row, is its own."""
        self.put(person)

    def moved(self, person):
        """A new token is registered first without, then with its installation."""
        if not self.may_change_token(person):
            return False
        person.change_token()
        self.homes[person.token] = person.environment
        self.provider.must("POST", f"/v1/apps/{APP}/devices", self.without_installation(person))
        time.sleep(self.rng.random() * 0.02)
        self.put(person)

    def relogin(self, person):
        """Logs out, and in again."""
        begin = time.monotonic_ns()
        self.remove(person)
        self.put(person)
        person.absences.append((begin, time.monotonic_ns()))

    def renewed(self, person):
        """Removed, and installed anew with another token."""
        if not self.may_change_token(person):
            return False
        begin = time.monotonic_ns()
        self.remove(person)
        person.change_token()
        self.put(person)
        person.absences.append((begin, time.monotonic_ns()))

    def gone(self, person):
        self.remove(person)
        person.has_left = True

    def other_user(self, person):
        person.user = self.rng.choice(USERS)
        self.put(person)

    def other_zone(self, person):
        person.zone = self.rng.choice(ZONES)
        self.put(person)


class Newcomers(Worker):
    """Who registers in the very moment in which campaigns are accepted is a recipient or is not, and counted so."""

    def __init__(self, world):
        self.world = world

    def turn(self):
        world = self.world
        person = Person(len(world.people), random.Random(world.rng.random()))
        person.is_split, person.is_new = False, True
        world.people.append(person)
        world.put(person)


def churn(options, rng):
    world = Churn(options, rng)
    world.start()
    with Newcomers(world):
        identities = world.campaigns()
    begin = time.monotonic()
    people = [person for person in world.people if not person.is_new]
    worker = threading.Thread(target=world.run, args=[people])
    worker.start()
    answers = world.provider.await_end(identities, 90)
    world.is_over = True
    worker.join()
    seconds = time.monotonic() - begin
    ledger = {answer["id"]: world.provider.deliveries(answer["id"]) for answer in answers}
    world.provider.stop()
    found = complaints(answers, ledger, world.service.received, world.people)
    figure("churn_seconds", seconds, "s until all campaigns had ended")
    figure("churn_events", sum(world.events.values()), f"changes meanwhile: {dict(world.events)}")
    figure("churn_received", len(world.service.received), f"pushes for {len(answers)} campaigns")
    figure("churn_faults", len(found), "faults, must be 0")
    if found:
        fail("\n".join([f"{len(found)} faults under churn:", *found[:20]]))
