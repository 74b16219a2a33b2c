"""What one app must not take from the others."""

import collections
import re

from churn_judge import STATES

# What callers of one door have met: seconds of what succeeded, texts of what did not.
Measured = collections.namedtuple("Measured", "seconds refusals")

# Campaigns at most 2 times slower and urgent pushes 3 times are wanted; the rest is noise of a busy machine, where both
# were measured one after the other.
SLOWER, NOISE, URGENT, URGENT_NOISE = 2, 3, 3, 0.75


def p99(values):
    return sorted(values)[max(0, int(len(values) * 0.99) - 1)] if values else 0


def complaints(alone, beside):
    """Each: seconds of campaigns by app, latencies of urgent pushes, of reads, and the answers of the campaigns."""
    found = []
    for app, seconds in beside[0].items():
        if seconds > SLOWER * alone[0][app] + NOISE:
            found.append(f"{app}: {seconds:.1f} s beside others, {alone[0][app]:.1f} s alone")
    quiet, busy = p99(alone[1]), p99(beside[1])
    if busy > URGENT * quiet + URGENT_NOISE:
        found.append(f"urgent pushes: p99 is {busy:.2f} s beside others, {quiet:.2f} s alone")
    for answer in [*alone[3], *beside[3]]:
        total = sum(answer["counters"].get(state, 0) for state in STATES)
        if answer["counters"]["accepted"] != answer["recipients"] or total != answer["recipients"]:
            found.append(f"{answer['id']} of {answer['app']} has ended with {answer['counters']}"
                         f" for {answer['recipients']} recipients")
    return found


def slower(quiet, beside):
    """The door that is slowed down most, and how many times."""
    ratios = {name: p99(measured.seconds) / max(p99(quiet[name].seconds), 0.001) for name, measured in beside.items()
              if measured.seconds}
    name = max(ratios, key=ratios.get, default=None)
    return name, ratios.get(name, 0)


def door_complaints(attack, quiet, beside):
    """Of each door: what was measured in quiet, and beside an attack."""
    found = []
    for name, measured in beside.items():
        if measured.refusals:
            found.append(f"{attack}: {name} was refused {len(measured.refusals)} times: {measured.refusals[0]}")
        elif not measured.seconds:
            found.append(f"{attack}: {name} has not ended once")
        alone, busy = p99(quiet[name].seconds), p99(measured.seconds)
        if busy > URGENT * alone + URGENT_NOISE:
            found.append(f"{attack}: {name} took {busy:.2f} s (p99), {alone:.2f} s in quiet")
    return found


def resource_names(text):
    """The first column of a table of resources, in Markdown or with spaces between its columns."""
    rows = (re.match(r"(?:\| *)?`?([a-z]+(?:[A-Z][a-z]+)*)`?(?: *\||  )", line) for line in text.splitlines())
    return [row[1] for row in rows if row]


def without_attack(resources, attacks):
    """Complaints about resources that nobody attacks, and attacks on none."""
    attacked = {resource for attack in attacks for resource in attack.resources}
    return [f"no attack on the resource {name}" for name in resources if name not in attacked] + [
        f"no resource {name}, which is attacked" for name in sorted(attacked) if resources and name not in resources]
