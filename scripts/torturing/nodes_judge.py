"""What several nodes of one database must not do: lose, double or leave anything, or break a rule that spans them."""

import base64
import collections
import json

from apns_id import apns_id, prefix_of
from clock_judge import bursts
from receiver import WORDS

ACCEPTED, UNKNOWN = 1, 5
# Nanoseconds: within so long before a trouble of its node a push has not been written yet, and so long after it the node still
# sends what it had.
WRITTEN = int(10e9)
# Seconds for which all nodes have one provider token of a key; seconds until all nodes refuse a key that one has removed.
TOKEN, REVOKED = 20 * 60, 5
# What may be sent again for one trouble of one node (DispatchLimits): pages of walkers and of retries, single pushes.
WALKERS, RETRY_PAGES, URGENT = 4, 8, 512

# What was asked for: the tokens, whether its end was asked for before, and the rate per second.
Expected = collections.namedtuple("Expected", "tokens guarantee may_end_early rate", defaults=("atLeastOnce", False, None))
# What was done to a node, None for all, from begin to end on the monotonic clock in nanoseconds.
Trouble = collections.namedtuple("Trouble", "kind node begin end")


class Judgement:
    """Complaints, each with its kind: lost, doubled, stuck, or a rule that was broken."""

    def __init__(self, expected, answers, ledger, pushes, troubles, page=100):
        """Answers are what the API says of each notification, the ledger its states by recipient; the environment of a push is
        the name of the node that sent it."""
        self.complaints, self.troubles, self.page = [], troubles, page
        # How many pushes came again for each trouble; how many at-most-once ones are unknown.
        self.again, self.interrupted, self.examples = collections.Counter(), 0, {}
        by_prefix = collections.defaultdict(list)
        for push in pushes:
            by_prefix[prefix_of(push.apns_id)].append(push)
        known = {answer["id"]: answer for answer in answers}
        for identity in expected.keys() - known.keys():
            self.complain("lost", f"{identity} was answered with 202 and is not there")
        for answer in answers:
            pushed = by_prefix.pop(prefix_of(answer["id"]), [])
            self.judge(answer, expected.get(answer["id"]), ledger.get(answer["id"], {}), pushed)
        for prefix, strays in by_prefix.items():
            self.complain("doubled", f"{len(strays)} pushes of {prefix} belong to no notification")
        for trouble, count in self.again.items():
            if count > self.page * (WALKERS + RETRY_PAGES) + URGENT:
                self.complain("doubled", f"{count} pushes came again for {trouble.kind} of {trouble.node}")

    def complain(self, kind, text):
        self.complaints.append((kind, text))

    def judge(self, answer, expected, states, pushes):
        if expected is None:
            return self.complain("doubled", f"{answer['id']} was never asked for, or its answer was another one")
        self.count(answer, expected, states)
        self.compare(answer, expected, states, pushes)
        self.find_doubles(answer, expected, pushes)
        if expected.rate and (burst := bursts({push.apns_id: push for push in reversed(pushes)}.values(), expected.rate, self.page)):
            self.complain("pace", f"{answer['id']}: {burst}")

    def count(self, answer, expected, states):
        name, counters, is_cut = answer["id"], answer["counters"], answer["state"] == "cancelled"
        listed = collections.Counter(WORDS.get(state, "begun") for state in states.values())
        for word in [*WORDS.values(), "begun"]:
            if listed[word] != counters.get(word, 0):
                self.complain("lost", f"{name}: {listed[word]} are {word} in the ledger, {counters.get(word, 0)} counted")
        if is_cut and not expected.may_end_early:
            self.complain("lost", f"{name} was cancelled, which nobody asked for")
        if len(states) > answer["recipients"] or not is_cut and len(states) != answer["recipients"]:
            self.complain("lost", f"{name}: {len(states)} final states of {answer['recipients']} recipients")
        if not is_cut and answer["recipients"] != len(expected.tokens):
            self.complain("lost", f"{name} has {answer['recipients']} recipients instead of {len(expected.tokens)}")

    def compare(self, answer, expected, states, pushes):
        name, prefix, is_cut = answer["id"], prefix_of(answer["id"]), answer["state"] == "cancelled"
        states = {apns_id(prefix, recipient): state for recipient, state in states.items()}
        taken = {push.apns_id: push for push in pushes if push.status == 200}
        never = [pushed for pushed, state in states.items() if state == ACCEPTED and pushed not in taken]
        if never:
            self.complain("lost", f"{name}: {len(never)} are accepted in the ledger and were never received, such as {never[0]}")
        for pushed, push in taken.items():
            state = states.get(pushed)
            if state in (ACCEPTED, UNKNOWN) or state is None and is_cut and self.trouble_of(push):
                continue
            self.complain("lost", f"{name}: {pushed} was received from {push.environment} and is {WORDS.get(state, state)} in the ledger")
        if is_cut:
            return
        good = {ACCEPTED} if expected.guarantee == "atLeastOnce" else {ACCEPTED, UNKNOWN}
        bad = collections.Counter(WORDS.get(state, state) for state in states.values() if state not in good)
        if bad:
            self.complain("lost", f"{name}, {expected.guarantee}, has ended with {dict(bad)}")
        unknown = sum(state == UNKNOWN for state in states.values())
        self.interrupted += unknown
        missing = len(expected.tokens - {push.token for push in taken.values()})
        if missing > unknown:
            self.complain("lost", f"{name}: {missing} of {len(expected.tokens)} have not got it")

    def find_doubles(self, answer, expected, pushes):
        name, ids, by_id = answer["id"], collections.defaultdict(set), collections.defaultdict(list)
        for push in sorted(pushes):
            ids[push.token].add(push.apns_id)
            by_id[push.apns_id].append(push)
        two = [token for token, names in ids.items() if len(names) > 1]
        if two:
            self.complain("doubled", f"{name}: {len(two)} tokens got it under several apns-ids, such as {two[0]}")
        strangers = ids.keys() - expected.tokens
        if strangers:
            self.complain("doubled", f"{name}: {len(strangers)} tokens got it that it was not for")
        for pushed, several in by_id.items():
            for first, second in zip(several, several[1:]):
                # What was refused for now is sent again.
                if first.status != 200:
                    continue
                # Who wakes up sends what others have sent meanwhile.
                trouble = self.trouble_of(first) or self.trouble_of(second)
                text = f"{name}: {pushed} came from {first.environment} and {(second.at - first.at) / 1e9:.1f} s later from {second.environment}"
                if expected.guarantee == "atMostOnce":
                    self.complain("doubled", f"{text}, at most once")
                elif trouble is None:
                    self.complain("doubled", f"{text} without any trouble")
                else:
                    self.again[trouble] += 1
                    self.examples.setdefault(trouble, text)

    def trouble_of(self, push):
        """The trouble of its node in which it was in flight: the nearest one."""
        near = [trouble for trouble in self.troubles if trouble.node in (None, push.environment)
                and trouble.begin - WRITTEN <= push.at <= trouble.end + WRITTEN]
        return min(near, key=lambda trouble: max(trouble.begin - push.at, push.at - trouble.end, 0), default=None)


def webhook_complaints(told, ledger, faults):
    """Told are the ids of events that the webhooks of these notifications were told."""
    for fault in faults:
        yield "order", f"a webhook was told wrongly: {fault}"
    final = {f"{apns_id(prefix_of(identity), recipient)}.{WORDS[state]}"
             for identity, states in ledger.items() for recipient, state in states.items() if state in WORDS}
    if final - told:
        yield "lost", f"{len(final - told)} final states were not told to a webhook, such as {next(iter(final - told))}"
    ends = tuple(f".{word}" for word in WORDS.values())
    wrong = [event for event in told - final if event.endswith(ends)]
    if wrong:
        yield "doubled", f"{len(wrong)} final states were told to a webhook that are not in the ledger, such as {wrong[0]}"


def run_complaints(runs, promised):
    """The minutes of each schedule's runs, and those that were promised."""
    for schedule, minutes in promised.items():
        ran = collections.Counter(runs.get(schedule, []))
        missing, others = sorted(set(minutes) - ran.keys()), sorted(ran.keys() - set(minutes))
        if missing or others:
            yield "lost", f"schedule {schedule} has not run at {missing}, and at {others} without a promise"
        twice = [minute for minute, count in ran.items() if count > 1]
        if twice:
            yield "doubled", f"schedule {schedule} ran more than once at {twice}"


def token_complaints(pushes):
    """All nodes have one provider token of a key in 20 minutes."""
    texts = collections.defaultdict(dict)
    for push in pushes:
        if push.authorization:
            texts[push.authorization].setdefault(push.environment, push.at)
    issued = collections.defaultdict(list)
    for text, nodes in texts.items():
        head, body = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in text.split()[-1].split(".")[:2])
        issued[body["iss"], head["kid"]].append((body["iat"], text[-8:], sorted(nodes)))
    for key, tokens in issued.items():
        tokens.sort()
        for first, second in zip(tokens, tokens[1:]):
            if second[0] - first[0] < TOKEN:
                yield "token", f"of key {key[1]} two provider tokens were sent: {first} and {second}"


def key_complaints(refusals):
    """For each removed key the node and the seconds until it refused it; None for never."""
    for node, seconds in refusals:
        if seconds is None or seconds > REVOKED:
            yield "key", f"a key that was removed at another node is refused at {node} after {seconds} s"


def rest_complaints(counts):
    """What is left when everything has ended."""
    for what, count in counts.items():
        if count:
            yield "stuck", f"{count} {what} are left"


def integrity_complaints(counts):
    """Rows that contradict others."""
    for what, count in counts.items():
        if count:
            yield "lost", f"{count} {what}"
