"""The devices that the provider may know at each moment. The requests that overlap are tried in every order that their answers
allow (registration.py says what each does), so that what is known is certain again as soon as one answer decides it."""

import collections
import re
import threading

import registration
from changes import ASK, CONCERNED, operation_of
from erasure import SETTLING
from linear import Operation, ends
from registers import ABSENT, UNKNOWN, Change, Register, Timeline
from registration import EMPTY, ENVIRONMENTS, Registering, Row, World

# The worlds that are followed at the same time; with more, the provider is asked for its devices.
MOST_WORLDS = 64
# So many requests that overlap are put into order; of more, the provider is asked as well.
MOST_REQUESTS = 12
# A device of which nothing is known.
ANY = Row(None, None, "alert", "", None, UNKNOWN, UNKNOWN, None, False)


def step(worlds, operation):
    """For linear.ends: a state is a set of worlds."""
    (name, argument), result = operation.argument, operation.result
    make = {"register": register, "delete token": delete, "delete installation": delete_installation, "erase": erase,
            "settle": settle, "show": show}[name]
    found = frozenset(after for world in registration.expanded(worlds) for after in make(world, argument, result, operation))
    return found or None


def register(world, entries, results, operation):
    worlds = {world}
    for place, entry in enumerate(entries):
        # An installation's own registration does not say what it did, and one that was not found any more neither.
        wanted = results[place] if isinstance(results, list) else None
        made = [Registering(before, entry, (operation.name, place)).outcome() for before in worlds]
        worlds = {after for after, what in made if wanted in (None, what) or wanted == "again" and what != "added"}
    return worlds


def delete(world, argument, is_done, _):
    token, environments = argument
    after, count = registration.removed(world, lambda row: row.token == token and row.environment in environments)
    return [after] if bool(count) == is_done else []


def delete_installation(world, installation, *_):
    return [registration.removed(world, lambda row: row.installation == installation)[0]]


def erase(world, user, *_):
    return registration.condemned(world, user)


def settle(world, user, *_):
    return [registration.settled(world, user)]


def show(world, argument, shown, _):
    token, environments = argument
    for environment in environments:
        device = next((one for one in shown if one["environment"] == environment), None)
        world = world and registration.agreed(world, environment, token, device)
    return [world] if world else []


class Fleet:
    """The devices of an app: the worlds that there may be, and the requests since all were answered the last time."""

    def __init__(self):
        self.worlds, self.history, self.flying, self.must_ask, self.visited = frozenset([EMPTY]), [], 0, False, set()
        # When a user's erasure was asked for, and when the last request was answered.
        self.erasures, self.answered = {}, 0
        # The tokens of requests that cannot be put into order.
        self.named = set()

    def take(self, request):
        """Notes what an answered request may have done."""
        self.flying -= 1
        self.answered = max(self.answered, request.answered)
        if (operation := operation_of(request)) is None:
            return
        if operation[0] == ASK:
            self.must_ask = True
            self.named |= set(re.findall("[0-9a-f]{64}", f"{request.path} {request.body}"))
            return
        if operation[0][0] == "erase":
            self.erasures.setdefault(operation[0][1], request.answered)
        if operation[0][0] == "erase" and operation[1]:
            # It ends with its answer: another request meanwhile only asks about it, and what has come since its begin stays.
            self.history.append(Operation(request.invoked, request.answered - 1, request.number, operation[0], False))
            operation = ("settle", operation[0][1]), True
            self.history.append(Operation(request.answered, request.answered, request.number, *operation))
            return
        self.history.append(Operation(request.invoked, request.answered, request.number, *operation))

    def orders(self, answer):
        """The worlds in which the requests may have ended, and the one that nothing explains. `answer` is what was said of the
        device that was registered, if that was the only request: otherwise another one may have changed it since."""
        def noting(worlds, operation):
            after = step(worlds, operation)
            self.visited |= after or set()
            return after

        self.visited = set(self.worlds)
        self.must_ask |= len(self.history) > MOST_REQUESTS
        if self.must_ask:
            self.named |= {entry.token for operation in self.history if operation.argument[0] == "register"
                           for entry in operation.argument[1]}
            return frozenset(), None
        found, stuck = ends(self.history, self.worlds, noting)
        worlds = registration.expanded(frozenset().union(*found))
        if answer and len(self.history) == 1:
            token = answer["environment"], answer["token"]
            worlds = {after for after in (registration.agreed(world, *token, answer) for world in worlds) if after}
            stuck = stuck or self.history[0]
        return frozenset(self.without_old(worlds)), stuck

    def without_old(self, worlds):
        """An erasure takes its devices within a time."""
        old = [user for user, asked in self.erasures.items() if self.answered - asked > SETTLING]
        for user in old:
            worlds = {registration.erased(world, user) for world in worlds}
        under_way = {user for world in worlds for user in world.erasing}
        self.erasures = {user: asked for user, asked in self.erasures.items() if user in under_way}
        return worlds

    def listed(self, devices):
        """The worlds in which the provider has these devices. All of the earlier ones may be kept hidden."""
        rows, before = frozenset(row_of(device) for device in devices), self.worlds | self.visited
        hidden = frozenset().union(*(world.hidden for world in before)) | {
            registration.place_of(row) for world in before for row in world.rows if row.installation is not None}
        hidden -= {registration.place_of(row) for row in rows}
        erasing = frozenset(self.erasures).union(*(world.erasing for world in before))
        doomed = frozenset(row._replace(doomed=row.user in erasing) for row in rows)
        return frozenset([World(rows, hidden, erasing), World(doomed, hidden, erasing)])


def row_of(device):
    return Row(device["environment"], device["token"], device["kind"], device.get("activity") or "", device.get("installation"),
               device.get("user"), frozenset(device["tags"]), ("listed", device["id"]), False)


def states_of(worlds, places):
    """What some places of tokens may hold in some worlds."""
    states = {place: set() for place in places}
    for world in worlds:
        rows = {(row.environment, row.token): row for row in world.rows}
        for place in places:
            states[place].add(rows.get(place, ABSENT))
    return states


class Devices:
    def __init__(self, apps, listed, complain):
        """`listed(app)` is what the provider lists."""
        self.fleets, self.listed, self.complain = {app: Fleet() for app in apps}, listed, complain
        # By app, environment and token; and the opt-outs by app and user.
        self.timelines = collections.defaultdict(lambda: Timeline(ABSENT))
        self.choices = collections.defaultdict(lambda: Register(frozenset()))
        # How often the provider had to be asked.
        self.lock, self.asked = threading.Lock(), 0

    def begin(self, request):
        """Before a request is sent."""
        with self.lock:
            fleet = self.fleets.get(request.path.get("app"))
            if fleet and request.operation.id in CONCERNED:
                if not fleet.flying:
                    fleet.began = request.invoked
                fleet.flying += 1

    def end(self, request):
        """After its answer."""
        with self.lock:
            app = request.path.get("app")
            if app in self.fleets and request.operation.id in CONCERNED:
                self.fleets[app].take(request)
                self.settle(app, self.fleets[app], request)
            self.note_choices(request, app)

    def settle(self, app, fleet, request):
        if fleet.flying or not (fleet.history or fleet.must_ask):
            return
        is_alone = len(fleet.history) == 1 and request.operation.id == "registerDevice" and request.status in (200, 201)
        before, (worlds, stuck) = fleet.worlds, fleet.orders(request.answer if is_alone else None)
        if not worlds and not fleet.must_ask:
            self.complain(request, "device", f"no order of {len(fleet.history)} requests explains {stuck}; before them there was "
                          f"{self.known(before, stuck)}")
        if not worlds or fleet.must_ask or len(worlds) > MOST_WORLDS:
            self.asked += 1
            worlds = fleet.listed(self.listed(app))
        self.note(app, fleet, before, worlds)
        fleet.worlds, fleet.history, fleet.must_ask, fleet.named = worlds, [], False, set()

    def known(self, worlds, operation):
        """What was known of the devices that a request names, for a finding."""
        words = re.findall(r"[0-9a-f]{64}|installation-\d", str(operation))
        return [sorted(str(row) for row in world.rows if row.token in words or row.installation in words)
                for world in list(worlds)[:3]]

    def note(self, app, fleet, before, after):
        """Writes down what has changed: while the requests were open, everything on the way was possible too."""
        meanwhile = before | fleet.visited | after
        first = next(iter(before)).rows
        changed = set().union(*(world.rows ^ first for world in meanwhile))
        places = {(row.environment, row.token) for row in changed}
        if fleet.must_ask:
            places |= {(environment, token) for one, environment, token in list(self.timelines) if one == app}
            places |= {(environment, token) for environment in ENVIRONMENTS for token in fleet.named}
        mixed, settled = states_of(meanwhile, places), states_of(after, places)
        for place in places:
            timeline = self.timelines[app, *place]
            timeline.add(fleet.began, frozenset(mixed[place] | ({ANY} if fleet.must_ask else set())))
            timeline.add(fleet.answered, frozenset(settled[place]))

    def note_choices(self, request, app):
        if request.status is not None and not 200 <= request.status < 300:
            return
        if request.operation.id == "setPreferences":
            self.choose(request, app, request.path["user"], frozenset(request.json.get("optOuts") or []))
        elif request.operation.id == "deleteUser":
            self.choose(request, app, request.path["user"], UNKNOWN)

    def choose(self, request, app, user, chosen):
        answered = request.answered if request.status is not None else None
        self.choices[app, user].add(Change(request.invoked, answered, chosen))

    def finish(self):
        """Compares the devices that the provider lists with those that there may be."""
        for app, fleet in self.fleets.items():
            listed = {row._replace(identity=None) for row in map(row_of, self.listed(app))}
            worlds = registration.expanded(fleet.worlds)
            differences = [{row._replace(identity=None, doomed=False) for row in world.rows} ^ listed for world in worlds]
            if all(self.certain(rows) for rows in differences):
                self.complain(None, "device", f"the list of {app} differs: {sorted(map(str, min(differences, key=len)))[:6]}")

    @staticmethod
    def certain(rows):
        """The differences at tokens of which everything is known."""
        vague = {(row.environment, row.token) for row in rows if UNKNOWN in (row.user, row.tags)}
        return [row for row in rows if (row.environment, row.token) not in vague]

    def is_known(self, token):
        return any(token == other for _, _, other in self.timelines)

    def had_device(self, app, user, since, until):
        """Whether a device was a user's all the time between two moments. One whose token is gone does not count."""
        return any(place == app and not token.startswith("0") and all(
            state != ABSENT and state.user == user for state in timeline.possible(since, until))
            for (place, _, token), timeline in list(self.timelines.items()))

    def possible(self, app, environment, token, since, until):
        return self.timelines[app, environment, token].possible(since, until)

    def has_opted_out(self, app, user, category, since, until):
        """Whether a user did not want a category all the time."""
        chosen = self.choices[app, user].possible(since, until)
        return all(one != UNKNOWN and category in one for one in chosen)


def matches(device, to):
    """Whether a device belongs to a simple audience; None if that is not known."""
    if device == ABSENT:
        return False
    (name, value), = to.items()
    if name == "all":
        return True
    if name == "user":
        return None if device.user == UNKNOWN else device.user == value
    if name == "tag":
        return None if device.tags == UNKNOWN else value in device.tags
    return None
