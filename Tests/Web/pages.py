"""The table of the dashboard's pages. A new page is one line here; a test fails when a route is missing."""
import dataclasses
import re
import urllib.parse

ROOT = "/dashboard"


@dataclasses.dataclass(frozen=True)
class Page:
    """A page: its path below the root with parameters in braces, and who sees it."""

    path: str
    # The least role that sees it; None is a page for who is not signed in.
    role: str = "viewer"
    # Queries with which it is shown besides the plain page.
    queries: tuple = ()
    # Whether people whose apps are limited see it.
    all_apps: bool = False

    def address(self, names, query=""):
        """The address with the ids of an app's things; None if the app has no such thing."""
        try:
            return ROOT + re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str(names.values[m[1]]), safe=""), self.path + query)
        except KeyError:
            return None

    @property
    def name(self):
        return self.path.strip("/").replace("/", "-").replace("{", "").replace("}", "") or "overview"

    def matches(self, path):
        """Whether the path of an address, without its query, is of this page."""
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(ROOT + self.path))
        return re.fullmatch(pattern, path) is not None


PAGES = [
    Page("/sign-in", role=None),
    Page("/link/{link}", role=None),
    Page(""),
    Page("/account"),
    Page("/add-app", role="admin"),
    Page("/apps/{app}"),
    Page("/apps/{app}/settings"),
    Page("/apps/{app}/devices", queries=("?by=tag&q=beta", "?by=token&q=00000000", "?state=inactive", "?by=tag&q=nobody", "?by=token&q=x", "?sort=user", "?sort=lastSeen")),
    Page("/apps/{app}/devices/{token}"),
    Page("/apps/{app}/users/{user}"),
    Page("/apps/{app}/deliveries/{delivery}"),
    Page("/apps/{app}/tokens", queries=("?action=deactivated", "?token=x")),
    Page("/apps/{app}/credentials"),
    Page("/apps/{app}/webhooks", role="operator"),
    Page("/apps/{app}/webhooks/{webhook}", role="operator"),
    Page("/keys", role="admin", all_apps=True),
    Page("/keys/{key}", role="admin", all_apps=True),
    Page("/people", role="admin", all_apps=True),
    Page("/people/{person}", role="admin", all_apps=True),
    Page("/audit", role="admin", queries=("?result=rejected", "?name=nobody", "?from=x"), all_apps=True),
    Page("/system", all_apps=True),
    Page("/apps/{app}/notifications", queries=("?state=paused", "?name=ee", "?sort=name", "?sort=recipients", "?sort=state", "?state=x", "?key=x")),
    Page("/apps/{app}/notifications/new", role="author", queries=("?when=recurring", "?when=local&tag=beta")),
    Page("/apps/{app}/notifications/{notification}", queries=("?state=rejected",)),
    Page("/apps/{app}/audiences"),
    Page("/apps/{app}/audiences/new", role="author"),
    Page("/apps/{app}/audiences/{audience}"),
    Page("/apps/{app}/templates"),
    Page("/apps/{app}/templates/new", role="author"),
    Page("/apps/{app}/templates/{template}"),
    Page("/apps/{app}/schedules"),
    Page("/apps/{app}/schedules/calendar", queries=("?month=2027-01",)),
    Page("/apps/{app}/schedules/{schedule}"),
    Page("/apps/{app}/schedules/{schedule}/edit", role="author"),
    Page("/apps/{app}/publishing"),
    Page("/apps/{app}/publishing/files"),
    Page("/apps/{app}/publishing/catalogue", queries=("?account=nobody",)),
    Page("/apps/{app}/publishing/entitlement", role="operator"),
    Page("/apps/{app}/publishing/{publication}", queries=("?state=draft", "?sort=oldest", "?state=withdrawn")),
    Page("/apps/{app}/publishing/issues/{issue}"),
    Page("/apps/{app}/publishing/issues/{draft}"),
    Page("/apps/{app}/publishing/issues/{notified}"),
    Page("/apps/{app}/publishing/issues/{issue}/notify", role="author"),
]


@dataclasses.dataclass(frozen=True)
class Form(Page):
    """A form that a page posts, and the least role that may."""

    # What is posted to see whether it is allowed. It is refused by everybody else before it is read.
    fields: tuple = ()


FORMS = [
    Form("/sign-in", role=None),
    Form("/link/{link}", role=None),
    Form("/sign-out"),
    Form("/account/language", fields=(("language", "de"),)),
    Form("/account/password", fields=(("current", "x"), ("password", "x"), ("again", "x"))),
    Form("/account/sessions/{session}/end"),
    Form("/account/sign-out-everywhere"),
    Form("/add-app", role="admin", fields=(("bundleId", "com.example.Added"),)),
    Form("/apps/{app}/settings", role="admin", fields=(("rate", "1"),)),
    Form("/apps/{app}/pause", role="operator"),
    Form("/apps/{app}/resume", role="operator"),
    Form("/apps/{app}/erase", role="admin"),
    Form("/apps/{app}/devices/{token}/test", role="author", fields=(("environment", "sandbox"),)),
    Form("/apps/{app}/devices/{token}/activate", role="operator", fields=(("environment", "sandbox"),)),
    Form("/apps/{app}/devices/{token}/remove", role="operator", fields=(("environment", "sandbox"),)),
    Form("/apps/{app}/users/{user}/badge", role="author", fields=(("count", "7"),)),
    Form("/apps/{app}/users/{user}/erase", role="admin"),
    Form("/apps/{app}/tokens/reactivate", role="operator", fields=(("from", "2026-11-01T00:00"), ("step", "do"))),
    Form("/apps/{app}/tokens/{environment}/{decision}", role="operator"),
    Form("/apps/{app}/credentials/{environment}", role="operator"),
    Form("/apps/{app}/credentials/{environment}/test", role="operator"),
    Form("/apps/{app}/credentials/{environment}/remove", role="operator"),
    Form("/apps/{app}/credentials/{environment}/resume", role="operator"),
    Form("/apps/{app}/webhooks", role="operator", fields=(("url", "https://hooks.example.com/other"),)),
    Form("/apps/{app}/webhooks/{webhook}/edit", role="operator", fields=(("url", "https://hooks.example.com/new"),)),
    Form("/apps/{app}/webhooks/{webhook}/test", role="operator"),
    Form("/apps/{app}/webhooks/{webhook}/replay", role="operator", fields=(("block", "1"),)),
    Form("/apps/{app}/webhooks/{webhook}/rotate", role="operator"),
    Form("/apps/{app}/webhooks/{webhook}/remove", role="operator"),
    Form("/apps/{app}/webhooks/{webhook}/{operation}", role="operator"),
    Form("/keys", role="admin", fields=(("name", "x"), ("scopes", "read"))),
    Form("/keys/{key}/edit", role="admin", fields=(("name", "x"), ("scopes", "read"))),
    Form("/keys/{key}/remove", role="admin"),
    Form("/people", role="admin", fields=(("name", "eve"), ("role", "admin"))),
    Form("/people/{person}/edit", role="admin", fields=(("role", "admin"),)),
    Form("/people/{person}/invite", role="admin"),
    Form("/people/{person}/disable", role="admin"),
    Form("/people/{person}/enable", role="admin"),
    Form("/people/{person}/sign-out", role="admin"),
    Form("/people/{person}/remove", role="admin"),
    Form("/apps/{app}/notifications/new", role="author"),
    Form("/apps/{app}/notifications/preview"),
    Form("/apps/{app}/notifications/{notification}/pause", role="author"),
    Form("/apps/{app}/notifications/{notification}/resume", role="author"),
    Form("/apps/{app}/notifications/{notification}/cancel", role="author"),
    Form("/apps/{app}/notifications/{notification}/resend", role="author"),
    Form("/apps/{app}/audiences/new", role="author"),
    Form("/apps/{app}/audiences/preview"),
    Form("/apps/{app}/audiences/{audience}", role="author"),
    Form("/apps/{app}/audiences/{audience}/delete", role="author"),
    Form("/apps/{app}/audiences/{audience}/restore", role="author"),
    Form("/apps/{app}/templates/new", role="author"),
    Form("/apps/{app}/templates/preview"),
    Form("/apps/{app}/templates/{template}", role="author"),
    Form("/apps/{app}/templates/{template}/delete", role="author"),
    Form("/apps/{app}/templates/{template}/restore", role="author"),
    Form("/apps/{app}/schedules/{schedule}/edit", role="author"),
    Form("/apps/{app}/schedules/{schedule}/preview"),
    Form("/apps/{app}/schedules/{schedule}/pause", role="author"),
    Form("/apps/{app}/schedules/{schedule}/resume", role="author"),
    Form("/apps/{app}/schedules/{schedule}/delete", role="author"),
    Form("/apps/{app}/publishing", role="admin", fields=(("name", "Another"),)),
    Form("/apps/{app}/publishing/entitlement", role="operator", fields=(("url", "https://publisher.example.com/new"),)),
    Form("/apps/{app}/publishing/entitlement/test", role="operator", fields=(("account", "alice"), ("productIds", "issue7"))),
    Form("/apps/{app}/publishing/entitlement/remove", role="operator"),
    Form("/apps/{app}/publishing/{publication}", role="author", fields=(("title", "x"), ("productId", "x"), ("date", "2026-11-20"))),
    Form("/apps/{app}/publishing/{publication}/edit", role="admin", fields=(("name", "Another"),)),
    Form("/apps/{app}/publishing/{publication}/delete", role="admin"),
    Form("/apps/{app}/publishing/issues/{issue}/edit", role="author", fields=(("title", "x"), ("date", "2026-11-20"))),
    Form("/apps/{app}/publishing/issues/{draft}/publish", role="author"),
    Form("/apps/{app}/publishing/issues/{issue}/withdraw", role="author"),
    Form("/apps/{app}/publishing/issues/{issue}/delete", role="author"),
    Form("/apps/{app}/publishing/issues/{issue}/upload", role="author", fields=(("place", "cover"),)),
    Form("/apps/{app}/publishing/issues/{issue}/files/{place}/remove", role="author"),
    Form("/apps/{app}/publishing/issues/{issue}/notify", role="author"),
    Form("/apps/{app}/publishing/issues/{notified}/pause", role="author"),
    Form("/apps/{app}/publishing/issues/{notified}/resume", role="author"),
    Form("/apps/{app}/publishing/issues/{notified}/cancel", role="author"),
]

# What is no page of its own: live parts, files, addresses that only lead on.
PARTS = [
    "/overview/live",
    "/apps/{app}/live",
    "/apps/{app}/deliveries/{delivery}/live",
    "/apps/{app}/notifications/live",
    "/apps/{app}/notifications/{notification}/live",
    "/apps/{app}/publishing/issues/{notified}/live",
    "/apps/{app}/schedules/{schedule}/live",
]


def page_of(path):
    """The page of a path; None if the table has none."""
    return next((page for page in PAGES if page.matches(path)), None)


def part_of(path):
    return next((part for part in PARTS if Page(part).matches(path)), None)
