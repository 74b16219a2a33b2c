"""The times of each page while a campaign is sent. The figures count with a release, ONLY=figures and SIZE=1000000; wanted are 100 ms
at most for each page at the 95th percentile. No figure fails the test."""
import http.client
import math
import os
import re
import time
import unittest
import urllib.parse

import figures
import store
from pages import PAGES
from provider import ORIGIN, Visit, api, wait_for

# Whether the push service for production accepts what is sent, so that the campaign works while the pages are asked for.
IS_SENDING = os.environ.get("WEB_PUSH_SERVICE") == "1"
REQUESTS = int(os.environ.get("REQUESTS", "60" if IS_SENDING else "20"))
# Pushes a second: a million take longer than all pages.
RATE = int(os.environ.get("RATE", "1000"))


def accepted(campaign):
    return api("GET", f"/v1/notifications/{campaign}")["counters"]["accepted"]


class Times(unittest.TestCase):
    def test_pages(self):
        names = store.news()
        visit = Visit(store.person("admin"))
        campaign = store.send(names.app, {"to": {"all": True}, "environment": "production", "pace": {"rate": RATE}, "alert": "Figures"})
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{campaign}:cancel", allow=(409,)))
        wait_for(lambda: accepted(campaign) > 0 or not IS_SENDING, what="the first accepted push", seconds=60)
        before, began = accepted(campaign), time.perf_counter()
        names.values["running"] = campaign
        everything, worst = [], []
        # The page of a running notification has more to show than that of one that has ended.
        addresses = [(page.name, query, page.address(names, query)) for page in PAGES if page.role for query in ("", *page.queries)] + [
            ("apps-app-notifications-running", "", f"/dashboard/apps/{names.app}/notifications/{campaign}")]
        for name, query, address in addresses:
            name += re.sub(r"[^a-z0-9]+", "-", query.lower())
            with self.subTest(address):
                self.assertIsNotNone(address)
                times = self.times(address, visit)
                everything += times
                worst.append((percentile(times, 0.95), name))
                figures.add(f"page_p50_ms_{name}", percentile(times, 0.5), "ms")
                figures.add(f"page_p95_ms_{name}", percentile(times, 0.95), "ms")
        if IS_SENDING:
            rate = (accepted(campaign) - before) / (time.perf_counter() - began)
            figures.add("campaign_rate", rate, "accepted pushes a second meanwhile")
            self.assertGreater(rate, RATE * 0.5, "the campaign was not sent while the pages were asked for")
        figures.add("page_p50_ms", percentile(everything, 0.5), f"ms (all pages, {store.SIZE} devices)")
        figures.add("page_p95_ms", percentile(everything, 0.95), f"ms (all pages, {store.SIZE} devices)")
        figures.add("page_worst_p95_ms", max(worst)[0], f"ms ({max(worst)[1]}, wanted 100 at most)")

    def times(self, address, visit):
        """The milliseconds of each request to a page, one after the other on one connection."""
        url = urllib.parse.urlsplit(ORIGIN)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        times = []
        for _ in range(REQUESTS):
            begin = time.perf_counter()
            connection.request("GET", address, headers=visit.headers())
            response = connection.getresponse()
            response.read()
            times.append((time.perf_counter() - begin) * 1000)
            self.assertEqual(response.status, 200)
        connection.close()
        return times


def percentile(times, part):
    """The smallest time within which at least this part of the requests were answered."""
    return sorted(times)[max(0, math.ceil(len(times) * part) - 1)]
