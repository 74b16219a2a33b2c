"""What may come twice: the pages and retries that were in flight when a kill fell."""

import bisect
import collections
import time

from apns_id import prefix_of, recipient_of
from basics import fail

# What the provider declares (DispatchLimits): recipients of a page, pages of campaigns under way, pages of retries in each
# of two lanes, single notifications, each of up to 20 tokens here.
PAGE, WALKERS, RETRY_PAGES, URGENT, TOKENS = 1000, 4, 4, 512, 20
# Seconds after which a page that was received has been written, on a slow machine too.
WRITTEN = 10
DECLARED = PAGE * (WALKERS + 2 * RETRY_PAGES) + URGENT * TOKENS


class CrashWindow:
    def __init__(self):
        # By what apns-ids begin with: the cursors of its pages in flight with where the shard ends, and its retries.
        self.pages, self.retries = collections.defaultdict(set), collections.defaultdict(set)
        # Kills with pages of either kind in flight; when each fell.
        self.struck, self.struck_retries, self.moments = 0, 0, []

    def look(self, database):
        """To be called after each kill: whatever is leased now is in flight."""
        self.moments.append(time.time())
        leased = database.execute(
            "SELECT id, cursor, upTo FROM shard JOIN notification ON notification.number = shard.notification"
            " WHERE lease IS NOT NULL AND isDone = 0").fetchall()
        for identity, cursor, end in leased:
            self.pages[prefix_of(identity)].add((cursor, end))
        retries = database.execute(
            "SELECT id, recipient FROM retry JOIN notification ON notification.number = retry.notification"
            " WHERE lease IS NOT NULL").fetchall()
        for identity, recipient in retries:
            self.retries[prefix_of(identity)].add(recipient)
        self.struck += bool(leased)
        self.struck_retries += bool(retries)

    def had(self, apns_id, at, count):
        """Whether it was in flight at a kill, of a notification that was cancelled and of which count pushes are not in
        the ledger. Cancelling takes the leases away; then a kill must have followed before a page could be written."""
        prefix, recipient = prefix_of(apns_id), recipient_of(apns_id)
        if recipient in self.retries[prefix]:
            return True
        if any(cursor < abs(recipient) <= end for cursor, end in self.pages[prefix]):
            return True
        return count <= PAGE and any(0 <= moment - at / 1000 < WRITTEN for moment in self.moments)

    def prove(self, database, gateway):
        """Whatever came twice had been in flight at a kill: a leased retry, or in the page after a leased cursor."""
        numbers = {prefix_of(identity): number
                   for number, identity in database.execute("SELECT number, id FROM notification")}
        again = collections.defaultdict(list)
        for apns_id in gateway.again:
            again[prefix_of(apns_id)].append(recipient_of(apns_id))
        for prefix, recipients in again.items():
            # Named tokens are counted below zero.
            order = sorted(abs(row[0]) for row in database.execute(
                "SELECT recipient FROM delivery WHERE notification = ?", (numbers[prefix],)))
            for recipient in recipients:
                if recipient not in self.retries[prefix] and not self.is_in_page(abs(recipient), prefix, order):
                    fail(f"recipient {recipient} of {prefix} came twice and was not in flight at any kill")

    def is_in_page(self, recipient, prefix, order):
        place = bisect.bisect_right(order, recipient)
        return any(cursor < recipient <= end and place - bisect.bisect_right(order, cursor) <= PAGE
                   for cursor, end in self.pages[prefix])
