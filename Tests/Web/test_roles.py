"""Each role on each page and each form: allowed, or 403 and nothing has changed."""
import unittest

import store
from pages import FORMS, PAGES
from provider import ROLES, Visit, api, request


def snapshot(app=store.NEWS):
    """What must not change: everything that lists show, without times of use."""
    def strip(value):
        if isinstance(value, dict):
            # A notification shows the downloads that its next wave waits for; a publication has its setting by that name.
            changing = CHANGING | {"steering"} if "recipients" in value else CHANGING
            return {key: strip(inner) for key, inner in value.items() if key not in changing}
        return [strip(inner) for inner in value] if isinstance(value, list) else value

    paths = [
        "/v1/apps", "/v1/keys", "/v1/people", "/v1/audit?limit=1", f"/v1/apps/{app}/credentials", f"/v1/apps/{app}/schedules",
        f"/v1/apps/{app}/webhooks", f"/v1/apps/{app}/audiences", f"/v1/apps/{app}/templates", f"/v1/apps/{app}/publications",
        f"/v1/apps/{app}/notifications?limit=20", f"/v1/apps/{app}/hygiene",
    ]
    # The audit has a row for each refused request, so that only what is there counts.
    return {path: strip(api("GET", path, allow=(404,))) for path in paths if "audit" not in path}


CHANGING = {
    "nextTry", "nextTryMs", "nextTryAt", "nextTryAtMs", "failures", "lastError", "environmentStates",
    "lastUsedAt", "lastUsedAtMs", "lastSeenAt", "lastSeenAtMs", "counters", "rate", "secondsLeft", "finishesAt", "finishesAtMs",
    "environments", "troubles", "nextAt", "nextAtMs", "waitingFor", "total", "sent", "receiptCounts", "skipped", "updatedAt", "updatedAtMs", "progress",
}


class Roles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.other = store.news(), store.empty()
        cls.visits = {role: Visit(store.person(role)) for role in ROLES}

    def may(self, role, least):
        return ROLES.index(role) >= ROLES.index(least)

    def test_each_role_on_each_page(self):
        for page in PAGES:
            address = page.address(self.names)
            if page.role is None or not address:
                continue
            for role, visit in self.visits.items():
                with self.subTest(address, role=role):
                    response = visit.get(address)
                    self.assertEqual(response.status, 200 if self.may(role, page.role) else 403, response.text[:300])

    def test_who_is_not_signed_in_sees_the_form_only(self):
        for page in PAGES:
            address = page.address(self.names)
            if page.role is None or not address:
                continue
            with self.subTest(address):
                response = Visit().get(address)
                self.assertEqual(response.status, 303)
                self.assertTrue(response.headers["location"].startswith("/dashboard/sign-in"))
                self.assertNotIn(b"com.example", response.body)

    def test_people_of_one_app_see_no_other(self):
        visit = Visit(store.person("admin", store.EMPTY))
        for page in PAGES:
            address = page.address(self.names)
            if page.role is None or not address:
                continue
            with self.subTest(address):
                response = visit.get(address)
                about = "{" in page.path
                self.assertIn(response.status, (403, 404) if about or page.all_apps else (200,), response.text[:300])
                # The address names the app, but nothing else about it is known.
                for known in ("The Example", "Morning news", "Beta testers"):
                    self.assertNotIn(known, response.text)

    def test_each_role_on_each_form(self):
        before = snapshot()
        for form in FORMS:
            address = form.address(self.names)
            if form.role is None or not address or form.path == "/sign-out":
                continue
            for role, visit in self.visits.items():
                if self.may(role, form.role):
                    continue
                with self.subTest(address, role=role):
                    response = visit.post(address, {"csrf": visit.csrf, **dict(form.fields)})
                    self.assertEqual(response.status, 403, response.text[:300])
        self.assertEqual(snapshot(), before)

    def test_the_menu_has_only_what_is_allowed(self):
        for role, visit in self.visits.items():
            with self.subTest(role):
                page = visit.get("/dashboard").text
                for link in {part.split('"', 1)[0] for part in page.split('<li><a href="')[1:]}:
                    self.assertEqual(visit.get(link).status, 200, link)


class Forgery(unittest.TestCase):
    """Forms that were not posted from a page of the session."""

    @classmethod
    def setUpClass(cls):
        cls.names = store.news()

    def forms(self):
        return [(form, form.address(self.names)) for form in FORMS if form.role and form.address(self.names)]

    def test_no_form_without_the_token_of_its_session(self):
        visit, other = Visit(store.person("admin")), Visit(store.person("admin"))
        before = snapshot()
        tokens = {"none": None, "empty": "", "another session's": other.csrf, "a guess": "x" * 43,
                  "with a suffix": visit.csrf + "0", "an own one twice": [visit.csrf[:-1], "y"]}
        for form, address in self.forms():
            for name, token in tokens.items():
                with self.subTest(address, token=name):
                    fields = dict(form.fields) if token is None else {"csrf": token, **dict(form.fields)}
                    response = visit.post(address, fields)
                    self.assertIn(response.status, (400, 403) if "twice" in name else (403,), response.text[:300])
        self.assertEqual(snapshot(), before)
        self.assertEqual(visit.get("/dashboard/account").status, 200, "the session is still there")

    def test_no_form_of_another_origin(self):
        visit = Visit(store.person("admin"))
        token = visit.csrf
        before = snapshot()
        foreign = [
            {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"},
            {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"},
        ]
        for form, address in self.forms():
            for headers in foreign:
                with self.subTest(address, **{key.replace("-", "_"): value for key, value in headers.items()}):
                    response = visit.post(address, {"csrf": token, **dict(form.fields)}, headers)
                    self.assertEqual(response.status, 403)
        self.assertEqual(snapshot(), before)
        self.assertEqual(visit.get("/dashboard/account").status, 200)

    def test_no_form_without_a_session(self):
        token = Visit(store.person("admin")).csrf
        before = snapshot()
        for form, address in self.forms():
            with self.subTest(address):
                response = Visit().post(address, {"csrf": token, **dict(form.fields)})
                self.assertIn(response.status, (303, 401, 403))
                if response.status == 303:
                    self.assertIn("/sign-in", response.headers["location"])
        self.assertEqual(snapshot(), before)

    def test_get_changes_nothing(self):
        """A link or an image of another site can make requests with GET only."""
        visit = Visit(store.person("admin"))
        before = snapshot()
        for form, address in self.forms():
            with self.subTest(address):
                visit.get(address)
        for method in ("PUT", "DELETE", "PATCH"):
            for page in PAGES:
                address = page.address(self.names)
                if address:
                    with self.subTest(address, method=method):
                        response = request(method, address, headers=visit.headers())
                        self.assertIn(response.status, (403, 404, 405))
        self.assertEqual(snapshot(), before)
        self.assertEqual(visit.get("/dashboard/account").status, 200)
