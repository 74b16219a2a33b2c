"""What the erasure of a user takes of what is made after its request: until it has settled, its passes take the user's name and
the tokens of the user's devices from schedules, named audiences and badges, unless the user has come back with a device
(docs/decisions/0051)."""

import json

from registers import ABSENT, UNKNOWN
from registration import hexadecimal

# Passes go on for a minute, and the last begins some seconds later; as much again for a busy machine.
SETTLING = 120 * 10 ** 9
# An audience without devices.
NOBODY = {"not": {"all": True}}


class Erasures:
    """The requests to erase users, from the moment in which they are sent."""

    def __init__(self):
        self.requests = []

    def users(self, app, since, until):
        """The users of an app whose erasures may take something at some moment between two."""
        return {request.path["user"] for request in self.of(app)
                if request.invoked <= until and (not request.answered or since <= request.answered + SETTLING)}

    def of(self, app):
        return [request for request in self.requests
                if request.path["app"] == app and request.status in (None, 200, 202)]

    def have_ended(self, app, user):
        """Whether the last answer said that nothing is left: only then a device of the user is one from after the erasure."""
        requests = [request for request in self.of(app) if request.path["user"] == user]
        return max(requests, key=lambda request: request.answered).status == 200


def taken(thing, users):
    """A test of whether the erasure of users may have made one state of a thing another."""
    def test(old, new):
        kind = thing.kind.name
        if old in (ABSENT, UNKNOWN) or kind not in ("schedule", "audience", "badge"):
            return False
        if kind == "badge":
            return thing.key[2] in users and new == (("count", "0"),)
        before, version, rest = parts(old)
        if new == ABSENT:
            return kind == "schedule" and is_emptied(before, users)
        after, later, same = parts(new)
        if same != rest or after == before or not is_less(before, after, users):
            return False
        # A schedule to nobody is removed.
        return after != NOBODY if kind == "schedule" else later > version
    return test


def parts(state):
    """The audience in a state, the version that rises with a change of it, and everything else."""
    members = {name: json.loads(text) for name, text in state}
    holder, name = (members["notification"] or {}, "to") if "notification" in members else (members, "audience")
    return holder.pop(name, None), members.pop("version", None), members


def is_less(old, new, users):
    """Whether a part of an audience may be what is left of another."""
    if old == new:
        return True
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(is_less(one, other, users) for one, other in zip(old, new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    if new == NOBODY:
        return is_emptied(old, users)
    return old.keys() == new.keys() and all(
        is_shorter(name, old[name], new[name], users) or is_less(old[name], new[name], users) for name in old)


def is_shorter(name, old, new, users):
    """Whether a list of names or tokens lacks only some that go."""
    if name not in ("users", "tokens") or not isinstance(old, list) or not isinstance(new, list):
        return False
    return new == [one for one in old if one in new] and all(goes(name, one, users) for one in old if one not in new)


def is_emptied(audience, users):
    """Whether a condition names nobody but those who go."""
    if not isinstance(audience, dict):
        return False
    return any(goes(name, audience.get(name), users) or audience.get(f"{name}s") and all(
        goes(name, one, users) for one in audience[f"{name}s"]) for name in ("user", "token"))


def goes(name, value, users):
    """Which devices had a token is not known, so that each may go."""
    if not isinstance(value, str):
        return False
    return value in users if name.startswith("user") else hexadecimal(value) is not None
