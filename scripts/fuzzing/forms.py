"""What a request asked for beside how answers show it: a value may be written in several ways, and is shown in one of them."""

import re
import urllib.parse

import rules
from registration import environment_of

# The members of which answers show more than was asked for: only that everything of them is there is checked.
FREE = {"audience", "content", "schedule", "notification", "settings", "waves", "cap", "quietHours"}
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
# From here on an integer is kept as the nearest number with a fraction.
LARGEST = 2 ** 63


def leaves(value):
    """What a value consists of, in one spelling."""
    if isinstance(value, dict):
        return set().union(*(leaves(member) for member in value.values()))
    if isinstance(value, list):
        return set().union(*(leaves(member) for member in value))
    if isinstance(value, str):
        return {normal(value)}
    if value is None or isinstance(value, bool):
        return set()
    return {float(value) if abs(value) >= LARGEST else value}


def normal(text):
    """Texts in lower case; times in seconds since 1970, times of day in those since midnight, durations in seconds as well."""
    if match := re.fullmatch("([0-9]{1,11})([smhd])", text, re.ASCII):
        return "duration", int(match[1]) * UNITS[match[2]]
    if match := re.fullmatch("([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?", text, re.ASCII):
        return "time of day", int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3] or 0)
    at = rules.moment(text)
    return at if at is not None and not text.isdigit() else "gmt" if text == "UTC" else text.lower()


def is_kept(name, asked, seen):
    """Whether an answer shows what a request asked for; null asks for nothing in particular."""
    if asked is None:
        return True
    if name == "description" and asked == "":
        # An empty one removes it.
        return seen is None
    if name in FREE:
        parts = leaves(seen)
        return all(part in parts or is_milliseconds(part) and part / 1000 in parts for part in leaves(asked))
    if isinstance(asked, list) and isinstance(seen, list):
        return set(map(str, asked)) == set(map(str, seen))
    if name.endswith("At") or name == "date":
        return rules.moment(asked) == rules.moment(seen)
    if name == "environment":
        return environment_of({name: asked}) == seen
    if name == "url":
        return canonical(asked) == canonical(seen)
    if isinstance(asked, str) and isinstance(seen, str):
        return asked.lower() == seen.lower()
    return asked == seen


def is_milliseconds(value):
    """Whether a number is a time in milliseconds, if it is one."""
    return isinstance(value, int) and 10 ** 11 <= value < 10 ** 15


def canonical(url):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme), parts.path or "/", parts.query
