"""Faults of devices: pushes that went to others than those who have a token, or had it when the push was on its way."""

import threading
import time

from notes import ON_ITS_WAY
from planting import TOKEN, USER, ask, push_one
from world import APPS

# Tokens and an installation that nobody else asks for, and somebody else.
OTHER, THIRD, INSTALLATION, ANOTHER = "ce" * 32, "cf" * 32, "planted-installation", "somebody else"
APP = {"app": APPS[0]}


def register(run, token, **members):
    return ask(run, "registerDevice", APP, {"token": token, **members})


def alter(run, **members):
    """A change of the last push to the device of push_one."""
    received = run.world.service.received
    place = max(place for place, push in enumerate(received) if push.token == TOKEN)
    received[place] = received[place]._replace(**members)


def passed_on(run):
    """Its token had passed to somebody else long before the push, though not before the notification."""
    register(run, TOKEN, user=ANOTHER)
    alter(run, at=time.monotonic_ns() + 2 * ON_ITS_WAY)


def passed_before(run):
    """Its token had passed to somebody else before the notification, to whom another one went that is taken for it."""
    register(run, TOKEN, user=ANOTHER)
    meant_for(run, ANOTHER, USER)


def meant_for(run, user, other):
    """A notification to a user, as if another one had been meant."""
    note = ask(run, "send", APP, {"to": {"user": user}, "alert": "planted"})
    run.world.provider.await_end([note["id"]], 90)
    run.notes.notes[note["id"]].to = {"user": other}


def another_installation(run):
    register(run, OTHER, installation=INSTALLATION, user=ANOTHER)
    push_one(run)
    alter(run, token=OTHER)


def shared_user(run):
    """Its installation has another user, whom another of its devices named."""
    register(run, OTHER, installation=INSTALLATION, user=USER)
    register(run, THIRD, installation=INSTALLATION, kind="voip", user=ANOTHER)
    push_one(run)
    alter(run, token=OTHER)


def given_up(run):
    """Its installation has another token by now."""
    register(run, OTHER, installation=INSTALLATION, user=USER)
    register(run, THIRD, installation=INSTALLATION)
    push_one(run)
    alter(run, token=OTHER)


def another_kind(run):
    register(run, OTHER, kind="voip", user=USER)
    push_one(run)
    alter(run, token=OTHER)


def after_race(run):
    """Two users have raced for it, and an answer has said who has it."""
    threads = [threading.Thread(target=register, args=[run, TOKEN], kwargs={"user": user}) for user in (USER, ANOTHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    user = ask(run, "showDevice", {**APP, "token": TOKEN})["devices"][0]["user"]
    meant_for(run, user, ANOTHER if user == USER else USER)


def erased_twice(run):
    """Two erasures of its user were under way at the same time, and both have ended long before the push."""
    erasure = {**APP, "user": USER}
    threads = [threading.Thread(target=ask, args=[run, "deleteUser", erasure]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while ask(run, "deleteUser", erasure)["state"] != "erased":
        pass
    alter(run, at=time.monotonic_ns() + 2 * ON_ITS_WAY)


def not_listed(run):
    run.notes.devices.listed = lambda _: []


# The kind of finding that each has to lead to.
PLANTED = {
    "a push to a token that passed on long before it": ("audience", passed_on),
    "a push to a token that passed on before the notification": ("audience", passed_before),
    "a push to a device of another installation": ("audience", another_installation),
    "a push to a device whose installation has another user": ("audience", shared_user),
    "a push to a token that its installation gave up": ("deleted", given_up),
    "a push to a token of another kind": ("audience", another_kind),
    "a push to somebody else after a race": ("audience", after_race),
    "a push to a device after overlapping erasures": ("deleted", erased_twice),
    "a device that is not listed": ("device", not_listed),
}
