"""Chromium, driven by selenium."""
import json
import pathlib
import time

import axe_playwright_python
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys  # noqa: F401
from selenium.webdriver.support.ui import WebDriverWait

from provider import ORIGIN

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_open = []


def quit_all():
    while _open:
        _open.pop().quit()


class Browser:
    """A Chromium with a profile of its own."""

    def __init__(self, language="en", script=True):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb",
            "--disable-background-networking", "--disable-component-update", "--no-first-run", f"--lang={language}",
        ):
            options.add_argument(argument)
        preferences = {"intl.accept_languages": language, "credentials_enable_service": False}
        if not script:
            preferences["profile.managed_default_content_settings.javascript"] = 2
        options.add_experimental_option("prefs", preferences)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(60)
        self.width = 1440
        _open.append(self)

    def quit(self):
        if self in _open:
            _open.remove(self)
        self.driver.quit()

    # MARK: Looks

    def look(self, width=1440, height=900, dark=False):
        """Chooses the width of the window and whether it is dark."""
        self.width = width
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
        })
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def screenshot(self, path):
        """Writes a picture of the whole page."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": self.width, "height": min(size["height"], 4000), "scale": 1}
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})["data"]
        import base64
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    # MARK: Pages

    @property
    def path(self):
        """The path of the page, with its query."""
        return self.driver.current_url.removeprefix(ORIGIN)

    def open(self, path):
        self.driver.get(path if path.startswith("http") else ORIGIN + path)

    def sign_in(self, person):
        self.driver.delete_all_cookies()
        self.open("/dashboard/sign-in")
        if person.key:
            self.one("summary").click()
        for name, value in person.fields.items():
            self.fill(name, value)
        self.leave(lambda: self.one("main form button:not([type=button])").click())
        assert self.path.startswith("/dashboard") and "sign-in" not in self.path, f"{person.role}: {self.text}"

    def leave(self, action, seconds=20):
        """Does what ends the page, and waits for the next one."""
        old = self.one("html")
        action()
        self.wait(lambda: self._is_gone(old), "the page did not change", seconds)
        self.wait(lambda: self.driver.execute_script("return document.readyState") == "complete", "the page does not load")

    def _is_gone(self, element):
        try:
            return element != self.one("html")
        except Exception:  # Between two pages there is none.
            return False

    def wait(self, condition, message, seconds=20):
        return WebDriverWait(self.driver, seconds, 0.05).until(lambda _: condition(), message)

    # MARK: Elements

    def one(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def named(self, css, text):
        """The first shown element with a text."""
        for element in self.all(css):
            if element.is_displayed() and text in element.text:
                return element
        raise AssertionError(f"no {css} with the text “{text}” at {self.path}")

    def fill(self, name, value):
        field = self.one(f"[name='{name}']")
        field.clear()
        field.send_keys(value)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    @property
    def text(self):
        """What the page shows."""
        return self.script("return document.body ? document.body.innerText : ''")

    # MARK: Checks

    def messages(self):
        """The messages of the console since the last call, of any level."""
        return [f"{entry['level']} {entry['message']}" for entry in self.driver.get_log("browser")]

    def axe(self):
        """The violations that axe finds in the page, each with the elements."""
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run({runOnly: {type: 'tag', values: arguments[0]}, resultTypes: ['violations']})"
            ".then(r => done(r.violations), e => done([{id: String(e), help: '', nodes: []}]))", AXE_TAGS)
        return [
            f"{violation['id']}: {violation['help']}: "
            + "; ".join(json.dumps(node["html"][:160]) for node in violation["nodes"][:4])
            for violation in result
        ]

    def tab_stops(self):
        """The controls that Tab never reaches, and those whose focus cannot be seen. A live part that is renewed meanwhile takes the focus
        with it: the page is walked through again then."""
        for _ in range(3):
            missed, invisible = self.walk()
            if self.script("return window.webControls.every(control => control.isConnected)"):
                break
        return missed, invisible

    def walk(self):
        """Presses Tab through the page once."""
        count = self.script(CONTROLS)
        # Tab starts from the element that had the focus last: that is the top of the page.
        self.script("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex');"
                    "window.scrollTo(0, 0)")
        seen, invisible = set(), []
        last = None
        # Tab stops at each part of a date or a time.
        for _ in range(count * 6 + 20):
            self.press("Tab")
            found = self.script(FOCUSED)
            if found is None:
                if seen:
                    break
                continue
            if found["id"] == last:
                continue
            if found["id"] in seen:
                break
            last = found["id"]
            seen.add(last)
            if not found["visible"]:
                invisible.append(found["html"])
        missed = self.script("return window.webControls.filter((c, i) => !arguments[0].includes(i) && !arguments[0].some("
                             "j => c.type === 'radio' && window.webControls[j]?.type === 'radio' && window.webControls[j].name === c.name))"
                             ".map(c => c.outerHTML.slice(0, 120))", list(seen))
        return missed, invisible

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        for kind in ("rawKeyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)

    def pause(self, seconds):
        """Lets the page do what must not happen."""
        time.sleep(seconds)


CONTROLS = """
const shown = (e) => e.checkVisibility({checkOpacity: false, checkVisibilityCSS: true}) && e.getClientRects().length > 0;
window.webControls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  .filter((e) => shown(e) && !e.disabled && e.type !== 'hidden' && !e.closest('[aria-hidden=true]') && (e.tabIndex >= 0 || !e.matches('[tabindex]:not(a, button, input, select, textarea, summary)')));
window.webPlain = window.webControls.map((e) => { const s = getComputedStyle(e); return s.outlineStyle + s.outlineWidth + s.boxShadow + s.borderColor + s.backgroundColor; });
return window.webControls.length;
"""
FOCUSED = """
const e = document.activeElement;
if (!e || e === document.body || e === document.documentElement) return null;
const i = window.webControls.indexOf(e), s = getComputedStyle(e);
const outlined = s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1;
const look = s.outlineStyle + s.outlineWidth + s.boxShadow + s.borderColor + s.backgroundColor;
const box = e.getBoundingClientRect();
return {id: i < 0 ? 'x' + e.outerHTML.slice(0, 80) : i, visible: (outlined || i >= 0 && look !== window.webPlain[i]) && box.width > 0 && box.height > 0
  && box.bottom > 0 && box.top < innerHeight, html: e.outerHTML.slice(0, 120)};
"""
