"""Attacks by pages of other sites, in a browser in which somebody is signed in."""
import http.server
import threading
import unittest

import store
from browser import Browser
from provider import ORIGIN, Visit
from test_roles import snapshot


class OtherSite:
    """A server of pages by somebody else, at 127.0.0.1 and localhost: of the same site as the dashboard, and of another one."""

    def __init__(self):
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(site.page.encode())

            def log_message(self, *arguments):
                pass

        self.page = ""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def origins(self):
        """The origins: the browser sends a cookie with SameSite=Strict from the first, because ports do not count for it."""
        return [f"http://127.0.0.1:{self.server.server_port}", f"http://localhost:{self.server.server_port}"]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class OtherSites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = store.news()
        cls.site = OtherSite()
        cls.addClassCleanup(cls.site.stop)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.sign_in(store.person("admin"))

    def still_signed_in(self):
        self.browser.open("/dashboard/account")
        self.assertIn("/account", self.browser.path)

    def post_from(self, origin, action, fields):
        inputs = "".join(f'<input name="{name}" value="{value}">' for name, value in fields.items())
        self.site.page = f'<form method="post" action="{ORIGIN}{action}">{inputs}<button>go</button></form>'
        self.browser.open(f"{origin}/")
        self.browser.leave(lambda: self.browser.one("button").click())

    def test_a_form_of_another_site(self):
        before = snapshot()
        for origin in self.site.origins():
            for action in ("/dashboard/sign-out", f"/dashboard/apps/{store.NEWS}/notifications/new"):
                with self.subTest(action, origin=origin):
                    self.post_from(origin, action, {"title": "x", "body": "y"})
                    self.still_signed_in()
        self.assertEqual(snapshot(), before)

    def test_nobody_is_signed_in_by_another_site(self):
        """Who is signed in unknowingly as the attacker would give away what is typed then."""
        key = store.key("read")
        other = Browser()
        self.addCleanup(other.quit)
        own, self.browser = self.browser, other
        try:
            for origin in self.site.origins():
                with self.subTest(origin):
                    self.post_from(origin, "/dashboard/sign-in", {"key": key})
                    self.assertEqual(other.driver.get_cookies(), [])
        finally:
            self.browser = own

    def test_no_frame_shows_a_page(self):
        for origin in self.site.origins():
            for path in ("/dashboard", "/dashboard/sign-in", "/dashboard/account"):
                with self.subTest(path, origin=origin):
                    self.site.page = f'<iframe src="{ORIGIN}{path}" width="600" height="400"></iframe>'
                    self.browser.messages()
                    self.browser.open(f"{origin}/")
                    messages = self.browser.wait(lambda: self.browser.messages(), "the browser refuses no frame", 10)
                    self.assertTrue(any("frame" in message for message in messages), messages)
                    self.browser.driver.switch_to.frame(self.browser.one("iframe"))
                    shown = self.browser.script("return document.documentElement.outerHTML")
                    self.browser.driver.switch_to.default_content()
                    self.assertNotIn("Martlet", shown)

    def test_another_site_reads_nothing(self):
        for origin in self.site.origins():
            for path in ("/dashboard", "/v1/apps", "/openapi.json"):
                with self.subTest(path, origin=origin):
                    self.site.page = "<p>other</p>"
                    self.browser.open(f"{origin}/")
                    result = self.browser.driver.execute_async_script(
                        "const done = arguments[arguments.length - 1];"
                        "fetch(arguments[0], {credentials: 'include'}).then(r => r.text()).then(t => done('read ' + t.slice(0, 80)), e => done('refused'))",
                        ORIGIN + path)
                    self.assertEqual(result, "refused")

    def test_no_reference_to_the_opener(self):
        """A page that opens the dashboard in a window cannot steer it."""
        self.site.page = f'<button onclick="window.w = window.open(\'{ORIGIN}/dashboard\')">go</button>'
        self.browser.open(f"{self.site.origins()[1]}/")
        self.browser.one("button").click()
        self.browser.wait(lambda: self.browser.script("return window.w !== undefined && window.w.closed"),
                          "the other page still has the window")


class Markup(unittest.TestCase):
    """Markup that comes with requests, besides what is in the store (test_pages)."""

    def test_the_name_of_a_browser(self):
        person = store.person("viewer")
        visit = Visit()
        agent = {"user-agent": "<script>window.executed=1</script>\"><img src=x onerror=window.executed=1>"}
        response = visit.post("/dashboard/sign-in", person.fields, agent)
        self.assertEqual(response.status, 303)
        browser = Browser()
        self.addCleanup(browser.quit)
        browser.sign_in(person)
        browser.open("/dashboard/account")
        self.assertTrue(browser.script("return window.executed === undefined"))
        self.assertEqual(browser.messages(), [])
        self.assertEqual(browser.all("img[src=x]"), [])

    def test_queries_are_text(self):
        browser = Browser()
        self.addCleanup(browser.quit)
        browser.sign_in(store.person("admin"))
        for name in ("done", "q", "search", "state", "name", "sort", "cursor", "next", "app", "error", "notice"):
            for path in ("/dashboard", "/dashboard/account", f"/dashboard/apps/{store.news().app}/notifications", f"/dashboard/apps/{store.news().app}/devices"):
                browser.open(f"{path}?{name}=%22%3E%3Cimg%20src%3Dx%20onerror%3Dwindow.executed%3D1%3E")
                with self.subTest(path, item=name):
                    self.assertTrue(browser.script("return window.executed === undefined"))
                    self.assertEqual(browser.all("img[src=x]"), [])
        self.assertFalse([message for message in browser.messages() if "Content Security Policy" in message])

    def test_what_was_typed_comes_back_as_text(self):
        browser = Browser()
        self.addCleanup(browser.quit)
        browser.open("/dashboard/sign-in")
        browser.fill("name", store.MARKUP[1])
        browser.leave(lambda: browser.one("main form button").click())
        self.assertEqual(browser.one("[name=name]").get_attribute("value"), store.MARKUP[1])
        self.assertTrue(browser.script("return window.executed === undefined"))
