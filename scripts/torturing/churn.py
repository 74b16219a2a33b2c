"""The part in which people change their devices while campaigns go on for a while."""

import collections
import datetime
import random
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

    def __init__(self, options, rng, name):
        self.rng = rng
        self.people = [Person(number, random.Random(rng.random())) for number in range(size("CHURN_DEVICES", 500))]
        # The environment in which a token is good.
        self.homes, self.events = {}, collections.Counter()
        self.service = PushService(options.work, self.judge)
        # Pages are small, so that much happens between them. The breaker is not what is tried here.
        self.provider = Provider(options, f"{options.work}/{name}", self.service,
                                 ["--page", "20", "--breaker-minimum", "100000", "--breaker-memory", "100000"])
        self.is_over, self.failure = False, None
        # When the provider died; whether the last request had no answer for that.
        self.kills, self.may_die, self.was_silent = [], False, False

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
        events = [self.new_token, self.handed_on, self.moved, self.relogin, self.relogin, self.renewed, self.gone, self.other_user,
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

    def put(self, person):
        self.homes[person.token] = person.environment
        self.ask("POST", "", person.registration())

    def remove(self, person):
        self.ask("DELETE", f"/{person.token}")

    def ask(self, method, path, body=None):
        """Again and again while the provider is dead; then what is to be removed may be gone already."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status, answer = self.provider.call(method, f"/v1/apps/{APP}/devices{path}", body)
            if status in (200, 201, 204) or (status == 404 and self.was_silent and method == "DELETE"):
                self.was_silent = False
                return
            if status is not None or not self.may_die:
                fail(f"{method} of a device is answered {status} {answer}")
            self.was_silent = True
            time.sleep(0.05)
        fail("a provider that was killed does not answer")

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
        self.ask("POST", "", self.without_installation(person))
        time.sleep(self.rng.random() * 0.02)
        self.put(person)

    def handed_on(self, person):
        """Another installation has the token from now on, and this one the other's, or one of its own."""
        others = [other for other in self.people if self.may_hand_on(other) and other is not person
                  and other.environment == person.environment]
        if not self.may_hand_on(person) or not others:
            return False
        other = self.rng.choice(others)
        person.has_shared = other.has_shared = True
        mine, its = person.token, other.token
        if self.rng.random() < 0.5:
            person.tokens.append(its)
        else:
            person.change_token()
        other.tokens.append(mine)
        self.put(person)
        self.put(other)

    def may_hand_on(self, person):
        return self.may_change_token(person) and not (
            person.is_split or person.is_new or person.has_shared or person.has_left or person.absences)

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

    def die(self, count):
        """Kills at random moments, each time it starts again at once."""
        self.may_die = count > 0
        for _ in range(count):
            time.sleep(self.rng.uniform(0.5, 2))
            self.provider.kill()
            # What was on its way is received by then.
            self.kills.append(time.monotonic_ns() + 10 ** 8)
            self.provider.start()


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


class Events(Worker):
    """What happens to people, in a thread of its own."""

    def __init__(self, world, people):
        self.world, self.people = world, people

    def turn(self):
        self.world.run(self.people)
        self.is_over = True


def churn(options, rng):
    trial(options, rng, "churn", 0)
    trial(options, rng, "churn_kills", size("CHURN_KILLS", 3))


def trial(options, rng, name, kills):
    world = Churn(options, rng, name)
    world.start()
    with Newcomers(world):
        identities = world.campaigns()
    begin = time.monotonic()
    with Events(world, [person for person in world.people if not person.is_new]):
        world.die(kills)
        answers = world.provider.await_end(identities, 90)
        world.is_over = True
    seconds = time.monotonic() - begin
    ledger = {answer["id"]: world.provider.deliveries(answer["id"]) for answer in answers}
    world.provider.stop()
    found = complaints(answers, ledger, world.service.received, world.people, world.kills)
    figure(f"{name}_seconds", seconds, f"s until all campaigns had ended, {kills} kills")
    figure(f"{name}_events", sum(world.events.values()), f"changes meanwhile: {dict(world.events)}")
    figure(f"{name}_received", len(world.service.received), f"pushes for {len(answers)} campaigns")
    figure(f"{name}_faults", len(found), "faults, must be 0")
    if found:
        fail("\n".join([f"{len(found)} faults under {name}:", *found[:20]]))
