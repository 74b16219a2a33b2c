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
        self.browser.messages()

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

    def test_a_draft_keeps_the_languages_that_were_added(self):
        browser = self.browser
        browser.fill("title", "Two languages")
        for locale, title in (("de", "Zwei Sprachen"), ("fr", "Deux langues")):
            if not browser.one("[name=action][value=add-language]").is_displayed():
                browser.script("arguments[0].closest('details').open = true", browser.one("[name=action][value=add-language]"))
            browser.leave(lambda: browser.one("[name=action][value=add-language]").click())
            number = 0 if locale == "de" else 1
            browser.fill(f"language{number}", locale)
            browser.fill(f"title{number}", title)
        browser.open("/dashboard/account")
        browser.open(NEW)
        browser.wait(lambda: browser.all("[name=language1]"), "the rows of the draft do not come back")
        values = browser.script("return ['title', 'language0', 'title0', 'language1', 'title1'].map(n => document.getElementsByName(n)[0].value)")
        self.assertEqual(values, ["Two languages", "de", "Zwei Sprachen", "fr", "Deux langues"])
        # One that was removed does not.
        browser.leave(lambda: browser.one("[name=action][value=remove-language-0]").click())
        self.assertEqual(browser.one("[name=title0]").get_attribute("value"), "Deux langues")
        self.assertEqual(browser.all("[name=language1]"), [])
        self.assertEqual(browser.messages(), [])

    def test_a_draft_stays_while_it_is_refused_or_asked_about(self):
        browser = self.browser
        browser.fill("title", "Refused")
        self.choose("audience", "user")
        browser.leave(lambda: browser.one("main form .buttons button:not(.second)").click())
        browser.open(NEW)
        self.assertEqual(browser.one("[name=title]").get_attribute("value"), "Refused")
        browser.fill("body", "text")
        self.choose("audience", "all")
        browser.leave(lambda: browser.one("main form .buttons button:not(.second)").click())
        self.assertTrue(browser.all("[data-asks]"), browser.text)
        browser.open(NEW)
        self.assertEqual(browser.one("[name=title]").get_attribute("value"), "Refused")

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

    def test_what_is_live_keeps_the_focus_and_what_is_open(self):
        notification = store.send(store.NEWS, {
            "to": {"all": True}, "environment": "production", "name": "Focus", "pace": {"rate": 1}, "alert": "Focus"})
        self.addCleanup(lambda: api("POST", f"/v1/notifications/{notification}:cancel", allow=(409,)))
        browser = self.browser
        browser.open(f"/dashboard/apps/{store.NEWS}/notifications/{notification}")
        browser.one("#progress details.confirm summary").click()
        browser.script("document.querySelector('#progress details.confirm button').focus()")
        before = browser.one("#progress p").text
        api("POST", f"/v1/notifications/{notification}:pause")
        browser.wait(lambda: browser.one("#progress p").text != before, "the page does not follow", 15)
        self.assertTrue(browser.script("return document.querySelector('#progress details.confirm').open"), "the question was closed")
        self.assertTrue(browser.script("return document.activeElement.matches('#progress details.confirm button')"), "the focus is lost")

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
