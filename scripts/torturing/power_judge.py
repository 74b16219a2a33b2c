"""What must be true of a disk after a power failure, and of a provider that goes on from there."""

import collections
import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile

from apns_id import apns_id, prefix_of

BEGUN = 0
WORDS = {1: "accepted", 2: "rejected", 3: "failed", 4: "skipped", 5: "unknown"}
# Recipients in flight when the power fails, at most: pages of campaigns and of retries, single notifications (window.py).
PAGES, SINGLE = 4 + 2 * 4, 512 * 5

Ledger = collections.namedtuple("Ledger", "verdict keys tokens states guarantees")


def in_ledger(folder):
    """What the database says; None without one. A copy of it is read, for reading may roll back or shorten a log."""
    if not os.path.exists(f"{folder}/provider.sqlite"):
        return None
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as copy:
        for suffix in ("", "-wal", "-journal"):
            if os.path.exists(f"{folder}/provider.sqlite{suffix}"):
                shutil.copyfile(f"{folder}/provider.sqlite{suffix}", f"{copy}/provider.sqlite{suffix}")
        return read(f"{copy}/provider.sqlite")


def read(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        try:
            verdict = [row[0] for row in database.execute("PRAGMA integrity_check")]
            # Before the third migration nothing can have been promised.
            if not database.execute("SELECT 1 FROM pragma_table_info('notification') WHERE name = 'number'").fetchone():
                return Ledger(verdict, {}, set(), {}, {})
            rows = database.execute("SELECT number, id, idempotencyKey, guarantee FROM notification").fetchall()
            prefixes = {row[0]: prefix_of(row[1]) for row in rows}
            states = {apns_id(prefixes[number], recipient): state for number, recipient, state
                      in database.execute("SELECT notification, recipient, state FROM delivery")}
            tokens = {row[0].hex() for row in database.execute("SELECT token FROM device")}
        except sqlite3.DatabaseError as error:
            return Ledger([str(error)], {}, set(), {}, {})
    return Ledger(verdict, {row[2]: row[1].upper() for row in rows}, tokens, states,
                  {prefix_of(row[1]): row[3] for row in rows})


def at_rest(options, folder, promised):
    """The faults of what lies on the disk."""
    ledger = in_ledger(folder)
    faults = kept(ledger, promised)
    if ledger and ledger.guarantees:
        check = subprocess.run([options.martlet, "check", "--data-directory", folder], capture_output=True, text=True)
        if check.returncode:
            faults.append(f"martlet check: {check.stdout}{check.stderr}"[:1000])
    return faults


def kept(ledger, promised):
    """Everything that was promised is there."""
    if ledger is None:
        return ["there is no database"] if any(promised) else []
    faults = [] if ledger.verdict == ["ok"] else [f"the database is damaged: {ledger.verdict[:3]}"]
    for note in promised.notes:
        if ledger.keys.get(note.key) != note.identity.upper():
            faults.append(f"{note.identity} was answered with 202 and is not there")
    lost = [device.token for device in promised.devices if device.token not in ledger.tokens]
    if lost:
        faults.append(f"{len(lost)} registrations were answered and are not there")
    for final in promised.finals:
        state = WORDS.get(ledger.states.get(final.apns_id))
        if state != final.state:
            faults.append(f"{final.apns_id} was shown as {final.state} and is {state}")
    return faults


def after_start(ledger, before, after, replays, answers):
    """What was received before and after, what the same requests are answered, and how all ended."""
    faults, again = [], collections.Counter()
    seen = {push.apns_id for push in before}
    for push in after:
        state, prefix = ledger.states.get(push.apns_id), prefix_of(push.apns_id)
        if state is not None and state != BEGUN:
            faults.append(f"{push.apns_id} had ended as {WORDS.get(state)} and was sent again")
        if push.apns_id in seen and ledger.guarantees.get(prefix) == "atMostOnce":
            faults.append(f"{push.apns_id} was to come at most once and came again")
        again[prefix] += push.apns_id in seen
    if sum(again.values()) > PAGES * 50 + SINGLE:
        faults.append(f"{sum(again.values())} pushes came again, more than were in flight")
    ids = collections.defaultdict(set)
    for push in [*before, *after]:
        ids[prefix_of(push.apns_id), push.token].add(push.apns_id)
    faults += [f"{token[:8]}… got a notification under {len(names)} apns-ids"
               for (_, token), names in ids.items() if len(names) > 1]
    for note, (status, answer) in replays:
        if status != 202 or answer["id"] != note.identity:
            faults.append(f"the request of {note.identity} is answered {status} {answer} when it is repeated")
    for answer in answers:
        total = sum(answer["counters"].get(word, 0) for word in WORDS.values())
        if total != answer["recipients"]:
            faults.append(f"{answer['id']} has {total} final states for {answer['recipients']} recipients")
    return faults
