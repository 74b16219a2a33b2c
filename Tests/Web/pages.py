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
            path = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str(names.values[m[1]]), safe=""), self.path)
        except KeyError:
            return None
        return f"{ROOT}{path}{query}"

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
]

# What is no page of its own: live parts, files, addresses that only lead on.
PARTS = [
]


def page_of(path):
    """The page of a path; None if the table has none."""
    return next((page for page in PAGES if page.matches(path)), None)


def part_of(path):
    return next((part for part in PARTS if Page(part).matches(path)), None)
