"""What one app must not take from the others."""

from churn_judge import STATES

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
