"""Sessions: their cookies, fixation, signing out, the back button, lock-out, redirects."""
import unittest
import urllib.parse

import store
from browser import Browser
from pages import PAGES
from provider import ORIGIN, Person, Visit, new_person, request


def cookie(response):
    """The only cookie that a response sets, with its attributes in lower case."""
    fields = response.headers.get_all("set-cookie") or []
    assert len(fields) == 1, fields
    pair, *attributes = [part.strip() for part in fields[0].split(";")]
    name, value = pair.split("=", 1)
    return name, value, {attribute.lower() for attribute in attributes}


class Cookies(unittest.TestCase):
    def sign_in(self, visit, person):
        return visit.post("/dashboard/sign-in", person.fields)

    def test_attributes(self):
        name, value, attributes = cookie(self.sign_in(Visit(), store.person("viewer")))
        self.assertEqual(name, "martlet")
        self.assertGreaterEqual(len(value), 22, "128 bits at least")
        self.assertEqual(attributes, {"path=/", "httponly", "samesite=strict"})

    def test_visitors_get_no_cookie(self):
        self.assertIsNone(Visit().get("/dashboard/sign-in").headers["set-cookie"])

    def test_a_session_cannot_be_fixed(self):
        """Who plants a cookie before somebody signs in does not share the session."""
        for planted in ("martlet=chosen-by-the-attacker", "martlet=" + "A" * 43):
            visit = Visit()
            visit.cookie = planted
            _, value, _ = cookie(self.sign_in(visit, store.person("viewer")))
            self.assertNotIn(value, planted)
            attacker = Visit()
            attacker.cookie = planted
            self.assertEqual(attacker.get("/dashboard/account").status, 303)

    def test_signing_in_again_is_another_session(self):
        person = store.person("viewer")
        tokens = {cookie(self.sign_in(Visit(), person))[1] for _ in range(3)}
        self.assertEqual(len(tokens), 3)

    def test_strange_cookies_are_no_session(self):
        for value in ("martlet=", "martlet", "martlet=" + "x" * 5000, "martlet=%00", "martlet=\"'", "; ;=;martlet=a=b", "martlet=a; martlet=b"):
            with self.subTest(value[:40]):
                self.assertIn(request("GET", "/dashboard", headers={"cookie": value}).status, (303, 400, 431))

    def test_the_cookie_is_no_key_of_the_api(self):
        """A page of another site could make such requests otherwise, because they need no token of a form."""
        visit = Visit(store.person("admin"))
        for path in ("/v1/apps", "/v1/keys", "/v1/me"):
            with self.subTest(path):
                response = request("GET", path, headers=visit.headers())
                self.assertIn(response.status, (401, 404), response.text[:200])


class SigningOut(unittest.TestCase):
    def test_the_session_ends_at_the_server(self):
        visit = Visit(store.person("viewer"))
        before, token = visit.cookie, visit.csrf
        response = visit.post("/dashboard/sign-out", {"csrf": token})
        self.assertEqual(response.status, 303)
        self.assertIsNone(visit.cookie)
        visit.cookie = before
        self.assertEqual(visit.get("/dashboard/account").status, 303)

    def test_the_back_button_shows_nothing(self):
        browser = Browser()
        self.addCleanup(browser.quit)
        browser.sign_in(store.person("admin"))
        browser.open("/dashboard/account")
        browser.open("/dashboard")
        browser.leave(lambda: browser.one("form[action$='/sign-out'] button").click())
        for _ in range(2):
            browser.driver.back()
            browser.wait(lambda: "/sign-in" in browser.path, f"{browser.path} is shown after signing out", 10)
            self.assertNotIn("com.example", browser.text)

    def test_a_new_person_and_another_browser(self):
        """Signing out in one browser leaves the session of another one."""
        person = store.person("viewer")
        one, two = Visit(person), Visit(person)
        one.post("/dashboard/sign-out", {"csrf": one.csrf})
        self.assertEqual(two.get("/dashboard/account").status, 200)


class Redirects(unittest.TestCase):
    def test_after_signing_in_only_to_a_page_of_the_dashboard(self):
        person = store.person("viewer")
        for next_page in (
            "https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "/dashboard.evil.example", "/dashboard@evil.example",
            "javascript:alert(1)", "/dashboard\r\nset-cookie: martlet=x", "/dashboard\tx", "/dashboardx", " //evil.example", "/v1/apps",
            "/dashboard/\u00e9", "data:text/html,x",
        ):
            with self.subTest(next_page):
                query = urllib.parse.urlencode({"next": next_page})
                response = Visit().post(f"/dashboard/sign-in?{query}", person.fields)
                self.assertEqual(response.status, 303)
                self.assertEqual(response.headers["location"], "/dashboard")
                cookie(response)
        response = Visit().post("/dashboard/sign-in?next=%2Fdashboard%2Faccount", person.fields)
        self.assertEqual(response.headers["location"], "/dashboard/account")

    def test_in_the_browser_one_comes_back_to_the_page(self):
        browser = Browser()
        self.addCleanup(browser.quit)
        browser.open("/dashboard/account?x=1")
        self.assertIn("/sign-in?next=", browser.path)
        person = store.person("viewer")
        if person.key:
            browser.one("summary").click()
        for name, value in person.fields.items():
            browser.fill(name, value)
        browser.leave(lambda: browser.one("main form button").click())
        self.assertEqual(browser.path, "/dashboard/account?x=1")


class LockOut(unittest.TestCase):
    """Guessing passwords. Its person is locked for everybody, and for nobody else."""

    def setUp(self):
        self.person = new_person("viewer")

    def test_wrong_names_and_wrong_passwords_look_the_same(self):
        wrong = Visit().post("/dashboard/sign-in", {"name": self.person.name, "password": "not this one"})
        unknown = Visit().post("/dashboard/sign-in", {"name": "nobody of this name", "password": "not this one"})
        self.assertEqual(wrong.status, unknown.status)
        self.assertIn(wrong.status, (401, 403))
        strip = lambda response, name: response.text.replace(name, "")
        self.assertEqual(strip(wrong, self.person.name), strip(unknown, "nobody of this name"))

    def test_guessing_ends(self):
        statuses = []
        for number in range(40):
            response = Visit().post("/dashboard/sign-in", {"name": self.person.name, "password": f"guess {number}"})
            statuses.append(response.status)
            if response.status == 429:
                break
        self.assertEqual(statuses[-1], 429, statuses)
        right = Visit().post("/dashboard/sign-in", self.person.fields)
        self.assertEqual(right.status, 429, "the right password counts as little while it is locked")
        self.assertIsNone(right.headers["set-cookie"])


class Headers(unittest.TestCase):
    def test_each_page_has_its_header_fields(self):
        names = store.news()
        visit = Visit(store.person("admin"))
        for page in PAGES:
            address = page.address(names)
            if not address:
                continue
            with self.subTest(address):
                headers = visit.get(address).headers if page.role else Visit().get(address).headers
                policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
                self.assertEqual(policy["default-src"], "'none'")
                self.assertEqual(policy["script-src"], "'self'")
                self.assertEqual(policy["style-src"], "'self'")
                self.assertEqual(policy["frame-ancestors"], "'none'")
                self.assertEqual(policy["base-uri"], "'none'")
                self.assertEqual(policy["form-action"], "'self'")
                self.assertNotIn("unsafe", headers["content-security-policy"])
                self.assertEqual(headers["x-content-type-options"], "nosniff")
                self.assertEqual(headers["x-frame-options"], "DENY")
                self.assertEqual(headers["cache-control"], "no-store")
                self.assertIn(headers["referrer-policy"], ("same-origin", "no-referrer"))
                self.assertIsNone(headers["access-control-allow-origin"])

    def test_a_strange_host_is_text(self):
        visit = Visit(store.person("admin"))
        response = visit.get("/dashboard", {"host": "x\"><script>window.executed=1</script>"})
        self.assertNotIn("<script>window", response.text)

    def test_what_is_not_there_is_a_page(self):
        visit = Visit(store.person("admin"))
        for path in ("/dashboard/nothing", "/dashboard/apps/nothing/at/all", "/dashboard/%3Cscript%3E"):
            with self.subTest(path):
                response = visit.get(path)
                self.assertEqual(response.status, 404)
                self.assertTrue(response.headers["content-type"].startswith("text/html"))
                self.assertNotIn("<script>", response.text.split("</head>")[1])
