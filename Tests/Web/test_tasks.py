"""The tasks of docs/dashboard.md, each with the clicks that it claims. Typing is no click."""
import pathlib
import re
import unittest

import store
from browser import Browser
from provider import api

DOCUMENT = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "dashboard.md").read_text()
NUMBERS = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}


def claimed(task):
    """The number of clicks that the document claims for a task: the first one after its name."""
    text = DOCUMENT[DOCUMENT.index(task):]
    return NUMBERS[re.search(rf"\b({'|'.join(NUMBERS)})\b clicks?", text, re.IGNORECASE)[1].lower()]


class Tasks(unittest.TestCase):
    def setUp(self):
        self.names = store.news()
        self.browser = Browser()
        self.addCleanup(self.browser.quit)
        self.browser.sign_in(store.person("operator"))
        self.clicks = 0

    def click(self, css, text="", leaves=True):
        element = self.browser.named(css, text) if text else self.browser.one(css)
        self.clicks += 1
        if leaves:
            self.browser.leave(element.click)
        else:
            element.click()

    def check(self, task):
        self.assertLessEqual(self.clicks, claimed(task), f"clicks for “{task}”")

    def test_why_did_alice_not_get_it(self):
        self.browser.open(f"/dashboard/apps/{store.NEWS}")
        self.click("nav.side a", "Devices")
        self.browser.fill("q", "bob")
        self.click("main form.filters button")
        self.assertIn("/users/bob", self.browser.path)
        self.assertIn("BadDeviceToken", self.browser.text)
        self.click("main table a", "Morning news")
        self.assertIn("/deliveries/", self.browser.path)
        self.check("Why did alice not get it?")

    def test_stop_everything_for_an_app(self):
        self.browser.open("/dashboard")
        self.click("main .grid a", "The Example")
        self.click("nav.side a", "Settings")
        self.click("details.confirm summary", leaves=False)
        self.click("details.confirm button.danger")
        self.addCleanup(lambda: api("POST", f"/v1/apps/{store.NEWS}:resume", allow=(404, 409)))
        self.check("Stop everything for app X")
        self.browser.open("/dashboard")
        self.browser.leave(self.browser.named("main form button", "Resume").click)

    def test_a_german_alert_to_beta_testers_tomorrow_at_nine(self):
        self.browser.open("/dashboard")
        self.click("main .grid a, main .card a", "The Example")
        self.click("main a", "New notification")
        self.browser.fill("title", "Hallo")
        self.browser.fill("body", "Bitte ausprobieren")
        self.browser.fill("tag", "beta")
        self.browser.fill("locale", "de")
        self.click("label:has(> [name=when][value=local])", leaves=False)
        self.click("main form .buttons button:not(.second)")
        self.click("main form .buttons button:not(.second)")
        self.check("Send a German-only alert")
        sent = api("GET", f"/v1/apps/{store.NEWS}/notifications?limit=1")["notifications"][0]
        self.assertEqual(sent["state"], "scheduled")
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{sent['id']}:cancel"))

    def test_replace_a_credential(self):
        self.browser.open(f"/dashboard/apps/{store.NEWS}/credentials")
        self.clicks += 1  # The link of the warning on the overview, which there is only before a certificate ends.
        self.click("#sandbox details.upload summary", leaves=False)
        for field in self.browser.all("#sandbox input[type=file]")[:1]:
            field.send_keys(f"{store.WORK}/key.p8")
        for name, value in (("keyId", store.KEY_ID), ("teamId", store.TEAM)):
            for field in self.browser.all(f"#sandbox [name={name}]"):
                field.clear()
                field.send_keys(value)
        self.click("#sandbox details.upload button:not(.second)")
        self.assertEqual(self.browser.all("[aria-invalid=true]"), [], self.browser.text)
        self.check("Replace a certificate")

    def test_notify_issue_7(self):
        publication = self.names.publication
        issue = store.make_issue(store.NEWS, publication, "com.example.task7", "Issue 7 of the task", "2026-12-20")
        self.browser.open("/dashboard")
        self.click("main .grid a, main .card a", "The Example")
        self.click("nav.side a", "Publishing")
        self.click("main table a", "Issue 7 of the task")
        self.click("main a.button", "Notify")
        self.click("main form button", "Notify")
        self.check("Notify issue 7")
        notification = api("GET", f"/v1/issues/{issue}")["notification"]
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{notification}:cancel"))
        self.assertIn("open downloads", self.browser.text)
        self.assertEqual(api("GET", f"/v1/notifications/{notification}")["pace"]["waves"]["size"], 50)
