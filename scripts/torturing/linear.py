"""Whether a history of concurrent requests and their answers could have happened one after the other (Wing and Gong's
search, with Lowe's memory of what was tried)."""

import collections

# Moments on one clock; result is what the answer said.
Operation = collections.namedtuple("Operation", "invoked answered name argument result")


def first_impossible(history, state, step):
    """None if some order explains all answers: each request takes effect at one moment between its invocation and its
    answer. Else the operation that no order gets past. `step(state, operation)` is the state after it, or None if its
    answer is impossible there."""
    history = sorted(history, key=lambda operation: operation.invoked)
    everything, tried = (1 << len(history)) - 1, set()
    stack, farthest = [(0, state)], 0
    while stack:
        done, state = stack.pop()
        if done == everything:
            return None
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
    return next(operation for place, operation in enumerate(history) if not farthest >> place & 1)
