"""Every page of the table, at three widths, light and dark, with a keyboard, in German."""
import json
import os
import pathlib
import re
import unittest
import urllib.parse

import routes
import store
from browser import Browser
from pages import FORMS, PAGES, PARTS, ROOT, page_of, part_of
from provider import Visit
from routes import SOURCES

SCREENSHOTS = pathlib.Path(os.environ["WEB_SCREENSHOTS"])


class Table(unittest.TestCase):
    """The table has all pages."""

    def test_each_route_is_in_the_table(self):
        known = [page.path for page in PAGES] + PARTS
        self.assertEqual(routes.missing("GET", known), [], "routes that Tests/Web/pages.py does not have")
        self.assertEqual(routes.missing("POST", [form.path for form in FORMS]), [], "forms that Tests/Web/pages.py does not have")

    def test_each_page_of_the_table_is_shown(self):
        """No page is left out because the store lacks what it shows."""
        names = store.news()
        addresses = {page.path: [page.address(names, query) for query in ("", *page.queries)] for page in PAGES + FORMS}
        self.assertEqual([path for path, all in addresses.items() if None in all], [])

    def test_each_link_leads_to_a_page_of_the_table(self):
        store.news()
        visit = Visit(store.person("admin"))
        seen, waiting, unknown = set(), [ROOT], []
        while waiting and len(seen) < 400:
            path = waiting.pop()
            response = visit.get(path)
            if response.status == 303:
                waiting.append(response.headers["location"])
                continue
            if response.status >= 400:
                unknown.append(f"{path}: {response.status}")
                continue
            if not response.headers["content-type"].startswith("text/html"):
                continue
            for link in re.findall(r'<a [^>]*href="([^"]+)"', response.text):
                link = urllib.parse.urljoin(path, link.replace("&amp;", "&")).split("#")[0]
                if not link.startswith(ROOT):
                    continue
                plain = link.split("?")[0]
                # Of each page, two addresses and two queries are enough.
                kind = getattr(page_of(plain), "path", None) or part_of(plain)
                if kind is None and plain != ROOT:
                    unknown.append(f"{path} -> {link}")
                form = (kind, tuple(sorted(urllib.parse.parse_qs(link.partition("?")[2]))))
                if sum(1 for other in seen if other[0] == form) >= 2 or (form, link) in seen:
                    continue
                seen.add((form, link))
                waiting.append(link)
        self.assertEqual(unknown, [], "links to what is not in Tests/Web/pages.py")


class Pages(unittest.TestCase):
    """Each page is shown without a fault at each width, light and dark."""

    @classmethod
    def setUpClass(cls):
        cls.names = store.news()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)

    def each(self, browser=None, names=None, queries=True):
        """Opens each page, those of visitors first; yields the page with its address."""
        browser, names = browser or self.browser, names or self.names
        browser.driver.delete_all_cookies()
        browser.messages()
        signed_in = False
        for page in sorted(PAGES, key=lambda page: page.role is not None):
            if page.role and not signed_in:
                browser.sign_in(store.person("admin"))
                browser.messages()
                signed_in = True
            for query in ("", *(page.queries if queries else ())):
                address = page.address(names, query)
                if address:
                    yield page, address

    def test_console_axe_and_widths(self):
        for page, address in self.each():
            for width in (390, 768, 1440):
                for dark in (False, True):
                    look = f"{page.name}{'' if '?' not in address else '-' + re.sub(r'[^a-z0-9]+', '-', address.split('?')[1])}"
                    with self.subTest(address, width=width, dark=dark):
                        self.browser.look(width, dark=dark)
                        self.browser.open(address)
                        self.browser.screenshot(SCREENSHOTS / f"{look}-{width}-{'dark' if dark else 'light'}.png")
                        self.check_page(address)

    def check_page(self, address):
        browser = self.browser
        facts = browser.script(
            "return {headings: document.querySelectorAll('h1').length, title: document.title, language: document.documentElement.lang,"
            "width: document.documentElement.scrollWidth,"
            "executed: window.executed !== undefined,"
            "wide: [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && "
            "![...function*(p){while(p=p.parentElement)yield p}(e)].some(p => ['auto','scroll','hidden'].includes(getComputedStyle(p).overflowX)))"
            ".slice(0, 4).map(e => e.outerHTML.slice(0, 100))}", browser.width)
        faults = [f"console: {message}" for message in browser.messages()] + [f"axe: {violation}" for violation in browser.axe()]
        if facts["headings"] != 1:
            faults.append(f"{facts['headings']} headings of the first level")
        if not re.search(r"\S.* · Martlet$", facts["title"]):
            faults.append(f"the title “{facts['title']}”")
        if facts["language"] != "en":
            faults.append(f"the language “{facts['language']}”")
        if facts["width"] > browser.width:
            faults.append(f"{facts['width']} px wide in {browser.width} px: {facts['wide']}")
        if facts["executed"]:
            faults.append("markup was executed")
        self.assertEqual(faults, [], "\n".join(faults))

    def test_keyboard(self):
        self.browser.look(1440)
        for page, address in self.each(queries=False):
            with self.subTest(address):
                self.browser.open(address)
                missed, invisible = self.browser.tab_stops()
                self.assertEqual(missed, [], "Tab does not reach these")
                self.assertEqual(invisible, [], "the focus of these cannot be seen")
                if page.role is None:
                    continue
                self.browser.open(address)
                self.browser.press("Tab")
                self.assertEqual(self.browser.script("return document.activeElement.className"), "skip")
                self.browser.press("Enter")
                self.browser.wait(lambda: self.browser.script("return document.activeElement.id") == "main",
                                  "the skip link does not lead to the content", 3)

    def test_markup_is_never_executed(self):
        names = store.attacked()
        self.browser.look(1440)
        for page, address in self.each(names=names):
            with self.subTest(address):
                self.browser.open(address)
                self.assertTrue(self.browser.script("return window.executed === undefined"), "markup was executed")
                self.assertEqual(self.browser.messages(), [])
                strange = self.browser.script(
                    "return [...document.querySelectorAll('script:not([src]), [onerror], [onload], img[src=x], style, [style]')]"
                    ".map(e => e.outerHTML.slice(0, 120))")
                self.assertEqual(strange, [])

    def test_an_app_without_anything(self):
        names = store.empty()
        self.browser.look(1440)
        for page, address in self.each(names=names):
            if "{app}" not in page.path:
                continue
            with self.subTest(address):
                self.browser.open(address)
                self.browser.screenshot(SCREENSHOTS / f"{page.name}-empty.png")
                self.assertEqual(self.browser.messages(), [])
                self.assertEqual(len(self.browser.all("h1")), 1)


def texts(language):
    """The texts of a language by their paths, such as `signIn.title`."""
    def walk(value, path):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, f"{path}.{key}" if path else key)
        else:
            yield path, value
    found = {}
    for file in SOURCES.glob(f"*/Resources/*{language}.json"):
        if re.search(rf"(^|[._]){language}\.json$", file.name):
            found.update(walk(json.loads(file.read_text()), ""))
    return found


class German(unittest.TestCase):
    """The German pages have German texts only, and what the API says in English is marked as English."""

    # Words of English that no German text has; names and what is marked as English may have them.
    WORDS = re.compile(r"\b([Tt]he|and|with|from|[Yy]our|are|[Tt]his|that|has|have|not yet|of|to|Save|Delete|Remove|Search|Show|Next|Send|New)\b")

    def test_german(self):
        names = store.news()
        browser = Browser(language="de")
        self.addCleanup(browser.quit)
        english, german = texts("en"), texts("de")
        self.assertEqual(english.keys(), german.keys())
        leaks = {text for path, text in english.items() if text != german[path] and " " in text and "{" not in text and len(text) > 8}
        leaks -= set(german.values())
        paths = {path for path in english if "." in path}
        signed_in = False
        for page in sorted(PAGES, key=lambda page: page.role is not None):
            if page.role and not signed_in:
                browser.sign_in(store.person("admin"))
                signed_in = True
            for query in ("", *page.queries):
                address = page.address(names, query)
                if not address:
                    continue
                with self.subTest(address):
                    browser.open(address)
                    self.assertEqual(browser.one("html").get_attribute("lang"), "de")
                    shown = browser.script(
                        "const copy = document.body.cloneNode(true);"
                        "for (const e of copy.querySelectorAll('pre, code, .calls pre, script, .lock, [lang=en], input, textarea, time')) e.remove();"
                        "return copy.textContent")
                    attributes = browser.script(
                        "return [...document.querySelectorAll('[title],[placeholder],[aria-label],[alt]')].flatMap(e => "
                        "[e.title, e.placeholder, e.ariaLabel, e.alt].filter(t => t)).join(' | ')")
                    for name in store.NAMES:
                        shown = shown.replace(name, "")
                    whole = browser.text + attributes
                    words = set(re.split(r"[^\w.]+", whole))
                    self.assertEqual({"texts": [text for text in leaks if text in whole], "keys": sorted(words & paths),
                                      "words": self.WORDS.findall(shown)}, {"texts": [], "keys": [], "words": []})


if __name__ == "__main__":
    unittest.main()
