"""Requests that the document forbids, made of ones that it allows."""

import copy
import json

GARBAGE = [None, True, -1, 10 ** 30, 1.5, "", "\x00", "mm" * 40_000, [], [None], {}, {"x": None}, "../..", "𝕏" * 300, "a\nb"]
BROKEN = [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe{}", b"[" * 5000, b'{"a":1}x', b"{\"a\":\"\xc3\"}"]


def places(value, path=()):
    """The paths of everything inside of a value."""
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from places(member, (*path, number))


def mutated_body(rng, value):
    """The same JSON with one thing wrong, most of the time."""
    value = copy.deepcopy(value)
    path = rng.choice(list(places(value)))
    if not path:
        if isinstance(value, dict):
            value[rng.choice(["unknown", "id", "", "to ", "Name"])] = rng.choice(GARBAGE[:8])
        return value
    holder = value
    for part in path[:-1]:
        holder = holder[part]
    old, kind = holder[path[-1]], rng.randrange(5)
    if kind == 0:
        del holder[path[-1]]
    elif kind == 1 and isinstance(old, str):
        holder[path[-1]] = old * 50 + "z" * rng.choice([1, 50, 300, 5000])
    elif kind == 2 and isinstance(old, int):
        holder[path[-1]] = str(old)
    elif kind == 3:
        holder[path[-1]] = None
    else:
        holder[path[-1]] = rng.choice(GARBAGE)
    return value


def mutated_text(rng, text):
    """The same for a parameter."""
    return rng.choice(["", "x" * 5000, "\x7f", "-1", "1e9", "0x10", "99999999999999999999", text + "!", text.upper() + "ß",
                       " ", "null", "%00", "' OR 1=1 --", "😀"])


def broken(rng):
    return rng.choice(BROKEN)


def encoded(value):
    return json.dumps(value).encode()
