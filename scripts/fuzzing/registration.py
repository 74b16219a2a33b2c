"""What registrations, deletions and erasures make of the devices of an app, as the provider does it (docs/provider.md, *Device*,
and docs/decisions/0018 and 0021)."""

import base64
import binascii
import collections
import re

from registers import UNKNOWN

ENVIRONMENTS = ("sandbox", "production")
# A device, which has one place in its installation for each kind of token and Live Activity. User and tags may be UNKNOWN.
# `identity` is that of its first registration; `doomed` says that an erasure under way takes it, unless it gets another user.
Row = collections.namedtuple("Row", "environment token kind activity installation user tags identity doomed")
# All devices of an app; the places of devices that were removed and may be kept hidden (docs/decisions/0018); and the users
# whose erasure was not answered `erased` yet.
World = collections.namedtuple("World", "rows hidden erasing")
# What a registration says. NOT_NAMED stays as it is.
Entry = collections.namedtuple("Entry", "environment token kind activity installation user tags is_own")
NOT_NAMED = "not named"
EMPTY = World(frozenset(), frozenset(), frozenset())
KINDS = ["alert", "voip", "complication", "fileProvider", "location", "pushToTalk", "liveActivityStart", "liveActivityUpdate",
         "widgets", "controls", "web"]
ACTIVITY = "liveActivityUpdate"


def hexadecimal(text):
    """A token as the push service is told it, of one that is written in hexadecimal or base64; None for what is none."""
    cleaned = re.sub(r"[<> \t\r\n]", "", text)
    if re.fullmatch("([0-9A-Fa-f]{2})+", cleaned):
        return cleaned.lower()
    try:
        return base64.b64decode(cleaned, validate=True).hex()
    except (binascii.Error, ValueError):
        return None


def environment_of(body):
    return {"development": "sandbox", None: "production"}.get(body.get("environment"), body.get("environment"))


def place_of(row):
    return row.environment, row.installation, row.kind, row.activity


def with_token(world, environment, token):
    return next((row for row in world.rows if row.token == token and row.environment == environment), None)


class Registering:
    """A registration and the devices that it concerns: those of its token, of its installation and of its place in this."""

    def __init__(self, world, entry, identity):
        self.world, self.identity = world, identity
        self.by_token = with_token(world, entry.environment, entry.token)
        known = self.by_token or Row(*[None] * 9)
        self.installation = entry.installation or known.installation
        self.kind = entry.kind or known.kind or "alert"
        self.activity = (entry.activity or known.activity or "") if self.kind == ACTIVITY else ""
        self.place = (entry.environment, self.installation, self.kind, self.activity)
        self.others = [row for row in world.rows if self.installation is not None and row != self.by_token
                       and row.installation == self.installation and row.environment == entry.environment]
        self.by_place = next((row for row in self.others if place_of(row) == self.place), None)
        self.siblings = sorted((row for row in self.others if row != self.by_place),
                               key=lambda row: (KINDS.index(row.kind), row.activity))
        self.entry = self.owned(entry) if entry.is_own else entry

    def owned(self, entry):
        """An installation that is new here and registers the token of another one loses that one's user."""
        holder = self.by_token
        is_of_other = holder is not None and holder.installation not in (None, self.installation)
        is_new = not any(row.installation == self.installation and row.environment == entry.environment for row in self.world.rows)
        return entry._replace(user=None) if is_new and is_of_other and entry.user == NOT_NAMED else entry

    def outcome(self):
        """What it makes, and what the provider calls that."""
        if self.by_place:
            return self.renewed(self.by_place), "tokenReplaced"
        if self.by_token is None:
            return self.renewed(None), "added"
        # A hidden device may come back with the token of another installation; it is what the token's was then, but for its id.
        is_same = self.place not in self.world.hidden or self.by_token.installation in (None, self.installation)
        return self.renewed(self.by_token, is_same), "refreshed"

    def renewed(self, target, is_same=True):
        """The world with the device that the registration renews; None makes a new one. If it may not be the same, its place may
        be kept as well."""
        joins = target is None or target.installation != self.installation
        source = (self.siblings[0] if joins and self.siblings else target) or Row(*[None] * 6, frozenset(), None, False)
        user, is_doomed = self.user(source, target)
        row = Row(self.entry.environment, self.entry.token, self.kind, self.activity, self.installation, user,
                  self.tags(source), target.identity if target and is_same else self.identity, is_doomed)
        gone = {one for one in (target, self.by_token) if one}
        rows = self.world.rows - gone - set(self.siblings) | {row} | {self.shared(one, row) for one in self.siblings}
        # The device that gives its token to one of another installation keeps its own place there.
        left = {place_of(one) for one in gone
                if (one != target or not is_same) and one.installation not in (None, self.installation)}
        return World(rows, (self.world.hidden | left) - {self.place}, self.world.erasing)

    def user(self, source, target):
        """The user of the renewed device, and whether an erasure takes it."""
        named = self.entry.user
        if named == NOT_NAMED:
            return source.user, source.doomed
        return named, target is not None and named == target.user and target.doomed

    def tags(self, source):
        named = self.entry.tags
        if named == NOT_NAMED:
            return source.tags
        # An installation replaces those that its app lets it write.
        return UNKNOWN if self.entry.is_own and source.tags else named

    def shared(self, sibling, row):
        """A device of the same installation after this registration: it shares what was named."""
        user = sibling.user if self.entry.user == NOT_NAMED else row.user
        tags = sibling.tags if self.entry.tags == NOT_NAMED else row.tags
        return sibling._replace(user=user, tags=tags, doomed=sibling.doomed and user == sibling.user)


def removed(world, is_gone):
    """The world without some devices, and how many these are."""
    gone = frozenset(row for row in world.rows if is_gone(row))
    hidden = world.hidden | {place_of(row) for row in gone if row.installation is not None}
    return World(world.rows - gone, hidden, world.erasing), len(gone)


def condemned(world, user):
    """The worlds after a request to erase a user. One that is under way is only asked about, or has ended just before."""
    rows = frozenset(row._replace(doomed=True) if row.user in (user, UNKNOWN) else row for row in world.rows)
    new = World(rows, world.hidden, world.erasing | {user})
    return [world, new] if user in world.erasing else [new]


def erased(world, user):
    """The world once an erasure has taken a user's devices, with those of their installations that never had a user."""
    gone = {row for row in world.rows if row.doomed and row.user == user}
    installations = {row.installation for row in gone} - {None}
    gone |= {row for row in world.rows if row.user is None and row.installation in installations}
    return world._replace(rows=world.rows - gone)


def settled(world, user):
    """The world after the answer that a user is erased."""
    world = erased(world, user)
    return world._replace(erasing=world.erasing - {user})


def expanded(worlds):
    """The worlds with those in which erasures under way have come further."""
    found = set(worlds)
    for user in {user for world in worlds for user in world.erasing}:
        found |= {erased(world, user) for world in found if user in world.erasing}
    return found


def agreed(world, environment, token, shown):
    """The world in which a device is as it was shown, and None for one that was not there; None if it is another one."""
    row = with_token(world, environment, token)
    if row is None or shown is None:
        return world if row is None and shown is None else None
    seen = (shown.get("kind"), shown.get("activity") or "", shown.get("installation"))
    user, tags = shown.get("user"), frozenset(shown.get("tags") or [])
    if seen != (row.kind, row.activity, row.installation) or row.user not in (user, UNKNOWN) or row.tags not in (tags, UNKNOWN):
        return None
    return world._replace(rows=world.rows - {row} | {row._replace(user=user, tags=tags)})
