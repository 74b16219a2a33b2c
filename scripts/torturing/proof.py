"""The ledger against the gateway's log, and the ledger at rest."""

import collections
import subprocess

from apns_id import apns_id, prefix_of
from basics import fail

ACCEPTED, FAILED = 1, 3


def prove_deliveries(database, gateway, window):
    """Nothing is lost, and nothing was received that the ledger does not know, unless it was in flight at a kill and
    cancelled after. Counts by guarantee and state."""
    known, totals, cancelled = set(), collections.Counter(), set()
    rows = database.execute("SELECT number, id, guarantee, recipients, audience, state FROM notification").fetchall()
    for number, identity, guarantee, recipients, audience, end in rows:
        prefix, devices, count = prefix_of(identity), set(), 0
        for recipient, state in database.execute(
                "SELECT recipient, state FROM delivery WHERE notification = ?", (number,)):
            pushed, count = apns_id(prefix, recipient), count + 1
            known.add(pushed)
            totals[guarantee, state] += 1
            if state == ACCEPTED and pushed not in gateway.first:
                fail(f"{pushed} is accepted in the ledger and was never received")
            if guarantee == "atLeastOnce" and state != ACCEPTED and end != "cancelled":
                fail(f"{pushed} has ended in state {state}")
            if guarantee == "atMostOnce" and state == FAILED and pushed in gateway.first:
                fail(f"{pushed} has failed in the ledger and was received")
            if guarantee == "atMostOnce" and gateway.again.get(pushed):
                fail(f"{pushed} was to come at most once and came {gateway.again[pushed] + 1} times")
            if pushed in gateway.first:
                device = gateway.first[pushed][1]
                if device in devices:
                    fail(f"a device got notification {identity} under two ids")
                devices.add(device)
        if end == "cancelled":
            cancelled.add(prefix)
        if count != recipients and (end != "cancelled" or count > recipients):
            fail(f"notification {identity} has {count} final states for {recipients} recipients: {audience}")
    strays = [pushed for pushed in gateway.first if pushed not in known]
    pages = collections.Counter(map(prefix_of, strays))
    strays = [pushed for pushed in strays if prefix_of(pushed) not in cancelled
              or not window.had(pushed, gateway.first[pushed][0], pages[prefix_of(pushed)])]
    if strays:
        fail(f"{len(strays)} notifications were received that the ledger does not know, such as {strays[0]}")
    return totals


def prove_rest(provider, database):
    """Nothing is stuck, and the file is sound, by our own questions and by what the provider has for that."""
    prove_stillness(database)
    check = subprocess.run(
        [provider.options.martlet, "check", "--at-rest", "--data-directory", provider.folder],
        capture_output=True, text=True)
    if check.returncode != 0:
        fail(f"martlet check: {check.stdout}{check.stderr}")


def prove_stillness(database):
    """Nothing is left to do, and the file is sound."""
    questions = {
        "retries": "SELECT count(*) FROM retry",
        "shards": "SELECT count(*) FROM shard",
        "begun deliveries": "SELECT count(*) FROM delivery WHERE state = 0",
        "notifications without an end": "SELECT count(*) FROM notification WHERE finishedAt IS NULL",
        "rows without their notification":
            "SELECT count(*) FROM delivery WHERE notification NOT IN (SELECT number FROM notification)",
    }
    for what, question in questions.items():
        count = database.execute(question).fetchone()[0]
        if count:
            fail(f"{count} {what} are stuck")
    verdict = [row[0] for row in database.execute("PRAGMA integrity_check")]
    if verdict != ["ok"] or database.execute("PRAGMA foreign_key_check").fetchall():
        fail(f"the database is damaged: {verdict[:5]}")

