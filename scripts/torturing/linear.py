"""Whether a history of concurrent requests and their answers could have happened one after the other (Wing and Gong's
search, with Lowe's memory of what was tried)."""

import collections

# Moments on one clock; result is what the answer said.
Operation = collections.namedtuple("Operation", "invoked answered name argument result")


def ends(history, state, step, enough=None):
    """The states in which a history can end, and the operation that no order gets past if there is none: each request takes
    effect at one moment between its invocation and its answer. `step(state, operation)` is the state after it, or None if
    its answer is impossible there. With `enough`, only so many states are looked for."""
    history = sorted(history, key=lambda operation: operation.invoked)
    everything, tried, found = (1 << len(history)) - 1, set(), set()
    stack, farthest = [(0, state)], 0
    while stack and len(found) != enough:
        done, state = stack.pop()
        if done == everything:
            found.add(state)
            continue
        if (done, state) in tried:
            continue
        tried.add((done, state))
        farthest = max(farthest, done, key=int.bit_count)
        rest = [(place, operation) for place, operation in enumerate(history) if not done >> place & 1]
        limit = min(operation.answered for _, operation in rest)
        for place, operation in rest:
            if operation.invoked > limit:
                break
            after = step(state, operation)
            if after is not None:
                stack.append((done | 1 << place, after))
    if found:
        return found, None
    return found, next(operation for place, operation in enumerate(history) if not farthest >> place & 1)


def first_impossible(history, state, step):
    """None if some order explains all answers, else the operation that no order gets past."""
    return ends(history, state, step, 1)[1]
