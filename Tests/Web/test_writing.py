"""Writing a notification: with and without JavaScript, the preview, errors, the keyboard, drafts; live parts."""
import unittest

import store
from browser import Browser
from provider import api, wait_for

NEW = f"/dashboard/apps/{store.NEWS}/notifications/new"


def latest(name):
    """The notifications of a name, the newest first."""
    return [each for each in api("GET", f"/v1/apps/{store.NEWS}/notifications?limit=50")["notifications"] if each.get("name") == name]


class Writing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = store.news()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.sign_in(store.person("author"))

    def setUp(self):
        self.browser.open(NEW)
        self.browser.script("localStorage.clear()")
        self.browser.open(NEW)

    def shown(self):
        return self.browser.script("return document.getElementById('preview').innerText")

    def choose(self, name, value):
        """Chooses a radio button or an option."""
        browser = self.browser
        browser.script(
            "const [name, value] = arguments; const fields = [...document.getElementsByName(name)];"
            "const radio = fields.find(f => f.type === 'radio' && f.value === value); if (radio) radio.click(); else fields[0].value = value;"
            "fields[0].dispatchEvent(new Event('input', {bubbles: true}))", name, value)

    def test_the_preview_follows_what_is_typed(self):
        self.browser.fill("title", "Guten Morgen \u0600<b>")
        self.browser.fill("body", "<script>window.executed=1</script> bold")
        self.browser.wait(lambda: "Guten Morgen" in self.shown() and "<script>" in self.shown(), "the preview does not follow")
        self.assertTrue(self.browser.script("return window.executed === undefined"))
        self.browser.fill("body", "another text")
        self.browser.wait(lambda: "another text" in self.shown(), "the preview does not follow again")
        self.assertEqual(self.browser.messages(), [])

    def test_an_error_stands_at_its_field_and_what_was_typed_stays(self):
        self.browser.fill("title", "kept")
        self.choose("audience", "user")
        self.browser.leave(lambda: self.browser.one("main form .buttons button:not(.second)").click())
        self.assertEqual(self.browser.one("[name=title]").get_attribute("value"), "kept")
        wrong = self.browser.all("[aria-invalid=true]")
        self.assertTrue(wrong or self.browser.all("[role=alert]"), "no error is shown")
        for field in wrong:
            for part in field.get_attribute("aria-describedby").split():
                self.assertTrue(self.browser.all(f"#{part}"), f"nothing has the id {part}")

    def test_the_keyboard_sends(self):
        """Ctrl-Enter in a field goes on, as the button does; to one user it is sent at once."""
        self.browser.fill("title", "By keyboard")
        self.browser.fill("body", "text")
        self.choose("audience", "user")
        self.browser.fill("user", "alice")
        from selenium.webdriver.common.keys import Keys
        self.browser.leave(lambda: self.browser.one("[name=user]").send_keys(Keys.CONTROL + Keys.ENTER))
        self.assertRegex(self.browser.path, r"/notifications/[0-9A-Fa-f-]{36}")
        self.assertIn("By keyboard", self.browser.text)

    def test_a_draft_survives_a_closed_page_and_goes_once_it_is_sent(self):
        self.browser.fill("title", "A draft")
        self.browser.open("/dashboard/account")
        self.browser.open(NEW)
        self.assertEqual(self.browser.one("[name=title]").get_attribute("value"), "A draft")
        self.assertNotIn("csrf", self.browser.script("return JSON.stringify(localStorage)"))
        self.browser.fill("body", "text")
        self.choose("audience", "user")
        self.browser.fill("user", "alice")
        self.browser.leave(lambda: self.browser.one("main form .buttons button:not(.second)").click())
        self.browser.open(NEW)
        self.assertEqual(self.browser.one("[name=title]").get_attribute("value"), "")

    def test_sent_once_however_often_it_is_posted(self):
        self.browser.fill("title", "Once")
        self.browser.fill("body", "text")
        self.choose("audience", "user")
        self.browser.fill("user", "alice")
        self.browser.leave(lambda: self.browser.script(
            "const form = document.getElementById('form'); form.requestSubmit(); form.requestSubmit()"))
        sent = [each for each in api("GET", f"/v1/apps/{store.NEWS}/notifications?limit=20")["notifications"]
                if "Once" in str(api("GET", f"/v1/notifications/{each['id']}").get("content"))]
        self.assertEqual(len(sent), 1)

    def test_a_campaign_is_live(self):
        """The page of a notification changes without being loaded again, and stops when asked."""
        notification = store.send(store.NEWS, {
            "to": {"all": True}, "environment": "production", "name": "Live", "pace": {"rate": 20}, "alert": "Live"})
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{notification}:cancel", allow=(409,)))
        self.browser.open(f"/dashboard/apps/{store.NEWS}/notifications/{notification}")
        self.browser.script("window.same = true")
        api("POST", f"/v1/notifications/{notification}:cancel")
        part = self.browser.one("[data-live]").get_attribute("id")
        before = self.browser.script("return document.getElementById(arguments[0]).innerText", part)
        wait_for(lambda: store.state(notification) == "cancelled", what="the cancellation")
        self.browser.wait(lambda: self.browser.script("return document.getElementById(arguments[0]).innerText", part) != before
                          or "ancelled" in self.browser.text, "the page does not follow", 15)
        self.assertTrue(self.browser.script("return window.same === true"), "the page was loaded again")
        self.assertEqual(self.browser.messages(), [])


class WithoutScript(unittest.TestCase):
    """A browser without JavaScript: sign in, list, write, preview, send, sign out."""

    def test_from_signing_in_to_signing_out(self):
        store.news()
        browser = Browser(script=False)
        self.addCleanup(browser.quit)
        browser.sign_in(store.person("author"))
        browser.open(f"/dashboard/apps/{store.NEWS}/notifications")
        self.assertIn("Morning news", browser.text)
        browser.open(NEW)
        browser.fill("title", "Without script")
        browser.fill("body", "It works")
        browser.one("[name=audience][value=user]").click()
        browser.fill("user", "alice")
        browser.leave(lambda: browser.one("main form .buttons button.second").click())
        self.assertIn("It works", browser.one("#preview").text)
        self.assertEqual(browser.one("[name=title]").get_attribute("value"), "Without script")
        browser.leave(lambda: browser.one("main form .buttons button:not(.second)").click())
        self.assertRegex(browser.path, r"/notifications/[0-9A-Fa-f-]{36}")
        self.assertIn("Without script", browser.text)
        browser.leave(lambda: browser.one("form[action$='/sign-out'] button").click())
        self.assertIn("/sign-in", browser.path)
