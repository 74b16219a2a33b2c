"""What administration means when one request follows the other; each model is a step for linear.first_impossible.

An answer with 409 or 412 has changed nothing and is always possible: the client may try again."""

REFUSED = (409, 412)


def fields(state, operation):
    """A record of fields, as pairs: `change` sets some of them, `read` none, both are answered with all of them."""
    status, shown = operation.result
    if status in REFUSED:
        return state
    after = state
    if operation.name == "change":
        after = tuple(sorted({**dict(state), **dict(operation.argument)}.items()))
    return after if shown == after else None


def progress(state, operation):
    """A notification that does not end by itself goes on, is paused, or is cancelled for good."""
    status, shown = operation.result
    if operation.name == "read":
        return state if shown == state else None
    wanted = {"pause": "paused", "resume": "going", "cancel": "cancelled"}[operation.name]
    possible = state != "cancelled" or wanted == "cancelled"
    if status in REFUSED:
        return None if possible else state
    return wanted if possible and shown == wanted else None


def keys(state, operation):
    """The admin keys that are left: whoever has one may delete another, but never the last."""
    status, (by, target) = operation.result[0], operation.argument
    if status == 401:
        return state if by not in state else None
    if by not in state:
        return None
    if status == 204:
        return state - {target} if target in state and len(state) > 1 else None
    if status == 404:
        return state if target not in state else None
    return state if status in REFUSED else None


def possible_secrets(rotations):
    """Which rotation may have been the last: those that no other one follows for certain."""
    return [rotation.result[1] for rotation in rotations if rotation.result[0] == 200
            and not any(other.invoked > rotation.answered for other in rotations if other.result[0] == 200)]
