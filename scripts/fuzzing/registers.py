"""What something may have been at each moment, of requests that may overlap."""

import bisect
import collections
import itertools

ABSENT, UNKNOWN = "absent", "unknown"
# From the moment in which a request was sent it may hold, from that of its answer on it does.
Change = collections.namedtuple("Change", "invoked answered state")


class Register:
    """A value and its changes, each of which sets the whole value."""

    def __init__(self, first):
        # Those that were answered, in that order, and the latest invocation up to each of them; and those that were not.
        self.first, self.changes, self.latest, self.open = first, [], [], []

    def add(self, change):
        if change.answered is None:
            self.open.append(change)
            return
        place = bisect.bisect(self.changes, change.answered, key=lambda one: one.answered)
        self.changes.insert(place, change)
        del self.latest[place:]
        for one in self.changes[place:]:
            self.latest.append(max(one.invoked, self.latest[-1] if self.latest else 0))

    def possible(self, since, until):
        """The values that it may have had at some moment between two."""
        done = bisect.bisect_left(self.changes, since, key=lambda one: one.answered)
        states = {change.state for change in self.open if change.invoked <= until}
        if done == 0:
            states.add(self.first)
            first = 0
        else:
            # What came entirely before a change that was done by then is over.
            first = bisect.bisect_left(self.changes, self.latest[done - 1], key=lambda one: one.answered)
        later = 0
        for change in itertools.islice(self.changes, first, None):
            if change.invoked <= until:
                states.add(change.state)
            else:
                # So many requests are never open at the same time.
                later += 1
                if later > 30:
                    break
        return states


class Timeline:
    """All states that something may have had, from each of some moments on until the next one. Nothing of it is forgotten."""

    def __init__(self, first):
        self.moments, self.states = [0], [frozenset([first])]

    def add(self, moment, states):
        """From a moment on it is one of these. It is later than the last one, however late a thread came to note that."""
        if states != self.states[-1]:
            self.moments.append(max(moment, self.moments[-1]))
            self.states.append(frozenset(states))

    def possible(self, since, until):
        first = max(0, bisect.bisect_right(self.moments, since) - 1)
        last = bisect.bisect_right(self.moments, until)
        return frozenset().union(*self.states[first:last])

    def text(self):
        """Its last changes, for a finding."""
        return "; ".join(f"from {moment} on {sorted(map(str, states))}" for moment, states in zip(
            self.moments[-4:], self.states[-4:]))
