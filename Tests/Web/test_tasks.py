"""The tasks of docs/dashboard.md, each with the clicks that it claims. Typing is no click."""
import pathlib
import re
import subprocess
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
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{sent['id']}:cancel"))
        # It has begun where it is nine o'clock already, far in the east.
        self.assertIn(sent["state"], ["scheduled", "accepted"])
        self.assertEqual(sent["counters"]["accepted"], 0)

    def test_replace_a_certificate_that_ends_on_friday(self):
        app = store.make_app("com.example.Ending", credentials=False)
        api("PUT", f"/v1/apps/{app}/credentials/production", {"certificate": certificate(app, days=4).read_text()})
        self.browser.open("/dashboard")
        self.click("section.trouble a", "Replace")
        self.assertIn(f"/apps/{app}/credentials", self.browser.path)
        self.click("#production details.upload summary", leaves=False)
        self.browser.one("#production input[type=file]").send_keys(str(certificate(app, days=365)))
        self.click("#production details.upload button:not(.second)")
        self.assertEqual(self.browser.all("[aria-invalid=true]"), [], self.browser.text)
        self.check("Replace a certificate")
        self.assertIn("Sending goes on with the new credential.", self.browser.text)
        self.browser.open("/dashboard")
        self.assertNotIn(f"The certificate of {app}", self.browser.text)

    def test_notify_issue_7(self):
        publication = self.names.publication
        issue = store.make_issue(store.NEWS, publication, "com.example.task7", "Issue 7, once more", "2026-12-20")
        self.browser.open("/dashboard")
        self.click("main .grid a, main .card a", "The Example")
        self.click("nav.side a", "Publishing")
        self.click("main table a", "Issue 7, once more")
        self.click("main a.button", "Notify")
        self.click("main form button", "Notify")
        self.check("Notify issue 7")
        notification = api("GET", f"/v1/issues/{issue}")["notification"]
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{notification}:cancel"))
        self.assertIn("open downloads", self.browser.text)
        self.assertEqual(api("GET", f"/v1/notifications/{notification}")["pace"]["waves"]["size"], 50)


def certificate(app, days):
    """A file with a certificate for production and its key, as Apple's would be. It ends after some days."""
    file = pathlib.Path(f"{store.WORK}/{app}.{days}.pem")
    key = file.with_suffix(".key")
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days), "-keyout", key, "-out", file,
        "-subj", f"/UID={app}/CN=Apple Push Services: {app}", "-addext", "1.2.840.113635.100.6.3.2=ASN1:NULL",
    ], check=True, capture_output=True)
    file.write_text(file.read_text() + key.read_text())
    return file
