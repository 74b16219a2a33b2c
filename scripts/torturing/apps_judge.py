"""What one app must not take from the others."""

import collections
import math
import os
import re

from basics import size
from churn_judge import STATES

# What callers of one door have met: seconds of what succeeded, texts of what did not.
Measured = collections.namedtuple("Measured", "seconds refusals")

# Campaigns at most 2 times slower and urgent pushes 3 times are wanted; the rest is noise of a busy machine, where both
# were measured one after the other.
SLOWER, NOISE, URGENT, URGENT_NOISE = 2, 3, 3, 0.75
# What a door may take longer than three times what it takes in quiet, in milliseconds: the noise of a release, or of a program
# without optimization, which takes the processors from those who measure.
DOOR_NOISE = size("APP_NOISE", 750 if os.environ.get("CONFIGURATION") == "debug" else 100) / 1000


def p99(values):
    """The least value that 99 of 100 do not exceed: the greatest of less than a hundred."""
    return sorted(values)[math.ceil(len(values) * 0.99) - 1] if values else 0


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
        if busy > URGENT * alone + DOOR_NOISE:
            found.append(f"{attack}: {name} took {busy:.2f} s (p99), {alone:.2f} s in quiet")
    return found


def merged(first, second):
    """Two measurements of the same doors as one."""
    return {name: Measured(first[name].seconds + second[name].seconds, first[name].refusals + second[name].refusals)
            for name in first}


# The amounts of a resource: refused so far, held and waiting at one moment.
Amounts = collections.namedtuple("Amounts", "refused held waiting")
SAMPLE = re.compile(r'martlet_resource_(in_use|waiting|refused_total)\{([^}]*)\} ([0-9.e+]+)')


def amounts(metrics, good):
    """By resource: what others than the good app have of it, according to a text of Prometheus."""
    found = {}
    for kind, labels, value in SAMPLE.findall(metrics):
        fields = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if fields.get("app") != good:
            place = {"refused_total": 0, "in_use": 1, "waiting": 2}[kind]
            found.setdefault(fields["resource"], [0, 0, 0])[place] += float(value)
    return {name: Amounts(*values) for name, values in found.items()}


def not_reached(attack, resources, before, during):
    """Complaints about resources that an attack left alone: none was refused, and nobody held or waited for one."""
    nothing = Amounts(0, 0, 0)
    found = []
    for name in resources:
        first, samples = before.get(name, nothing), [sample.get(name, nothing) for sample in during]
        if not any(sample.refused > first.refused or sample.waiting or sample.held > first.held for sample in samples):
            found.append(f"{attack}: did not reach {name}")
    return found


def growth_complaints(attack, growth, bounds):
    """Complaints about what grew beside an attack: each bound names something, and the most of it."""
    return [f"{attack}: {name} grew by {growth[name]:.0f}, {most} at most"
            for name, most in bounds.items() if growth[name] > most]


def resource_names(text):
    """The resources of the table that `martlet help resources` prints."""
    rows = (re.match(r"\| `([a-z]+(?:[A-Z][a-z]+)*)`: ", line) for line in text.splitlines())
    return [row[1] for row in rows if row]


def without_attack(resources, attacks):
    """Complaints about resources that nobody attacks, and attacks on none."""
    if not resources:
        return ["the program lists no resource"]
    attacked = {resource for attack in attacks for resource in attack.resources}
    return [f"no attack on the resource {name}" for name in resources if name not in attacked] + [
        f"no resource {name}, which is attacked" for name in sorted(attacked) if name not in resources]
