"""Refusals that no schema states: rules between members, and rules that depend on what is there. Each has the operations and
the members it is about (* for any), a test of what was asked that says whether it may be refused so, and a reason."""

import datetime
import re
import time
import zoneinfo

SENDING = {"send", "previewNotification", "broadcast", "resendNotification"}
SCHEDULES = {"addSchedule", "changeSchedule", "previewSchedule"}
TEMPLATES = {"addTemplate", "saveTemplate", "previewTemplate"}
CONTENT = SENDING | SCHEDULES | TEMPLATES
AUDIENCES = {"addAudience", "saveAudience", "previewAudience", "countAudience"}
CHATS = {"addChatSession", "addOwnChatSession", "addXMPPNode", "addOwnXMPPNode", "addPushResource"}
SIGN_INS = CHATS | {"resumeChatSession", "resumeOwnChatSession"}
NODES = {"listXMPPNodes", "addXMPPNode", "addOwnXMPPNode", "removeXMPPNode", "addPushResource", "listPushResources"}
DEVICES = {"registerDevice", "registerDevices", "registerSelf"}
DAY = 86_400
ZONES = zoneinfo.available_timezones()


class Asked:
    """A request, and the value of the member that a refusal names."""

    def __init__(self, request, path):
        self.request, self.json, self.path = request, request.json, path
        self.beside, self.value = found(request, path)

    def has(self, name):
        """Whether the body has a member of this name somewhere."""
        return f'"{name}"'.encode() in (self.request.body or b"")


def found(request, path):
    """The object around a member of a request, and the member's value."""
    name = path.rpartition(".")[2]
    for place in (request.query, request.path, request.headers):
        if path in place:
            return place, place[path]
    holder, value = at(request.json, path)
    return holder if isinstance(holder, dict) else {name: value}, value


def at(value, path):
    """The value at a path such as devices[0].token, and what is around it. Names may have dots themselves."""
    if match := re.match(r"\[(\d+)\]\.?", path):
        inner = value[int(match[1])] if isinstance(value, list) and int(match[1]) < len(value) else None
        return (value, inner) if match.end() == len(path) else at(inner, path[match.end():])
    if not isinstance(value, dict):
        return value, None
    for name in sorted(value, key=len, reverse=True):
        rest = path.removeprefix(name)
        if path == name:
            return value, value[name]
        if rest != path and rest[0] in ".[":
            return at(value[name], rest.removeprefix("."))
    return value, None


def moment(value):
    """The seconds since 1970 of a time; None for what is none, such as the 30th of February."""
    if isinstance(value, int) or isinstance(value, str) and value.isascii() and value.isdigit():
        number = int(value)
        return number if number < 10 ** 11 else number / 1000
    try:
        time = datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", value).upper().replace("Z", "+00:00"))
        fraction = re.search(r"\.(\d+)", value)
        seconds = int((time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).timestamp())
        return (seconds * 1000 + int(f"{fraction[1]}00"[:3])) / 1000 if fraction else seconds
    except (TypeError, ValueError, OverflowError):
        return None


def anything(_):
    return True


def given(asked):
    return asked.value is not None


def several(asked):
    return sum(value is not None for value in asked.beside.values()) > 1 or len(asked.json) > 1


def no_token(asked):
    text = re.sub(r"[<> \t\r\n]", "", asked.value) if isinstance(asked.value, str) else ""
    is_hexadecimal = re.fullmatch("([0-9A-Fa-f]{2}){32,512}", text)
    is_base64 = re.fullmatch("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text) and 43 < len(text) < 685
    return not is_hexadecimal and not is_base64


def no_day(asked):
    return moment(asked.value) is None


def no_zone(asked):
    return asked.value not in ZONES


def past(asked):
    at = moment(asked.value)
    return at is not None and at < time.time() + DAY


def far(asked):
    at = moment(asked.value)
    return at is not None and at > time.time() + 300 * DAY


def not_later(first):
    """A time that does not come after another one beside it."""
    def test(asked):
        one, other = moment(asked.beside.get(first)), moment(asked.value)
        return asked.beside.get(first) == asked.value or None not in (one, other) and other <= one
    return test


def no_duration(asked):
    digits, unit = (asked.value[:-1], asked.value[-1:]) if isinstance(asked.value, str) else (str(asked.value), "s")
    seconds = int(digits) * {"s": 1, "m": 60, "h": 3600, "d": DAY}.get(unit, 0) if digits.isdigit() else 0
    return not 1 <= seconds <= 30 * DAY


def no_version(asked):
    return not isinstance(asked.value, str) or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}", asked.value)


def no_url(asked):
    return not isinstance(asked.value, str) or not re.fullmatch(
        r"https?://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9/_.-]*)?", asked.value)


def no_host(asked):
    """Not an IPv4 address, and not labels of 1 to 63 bytes of which the last does not begin with a digit: 253 bytes at most."""
    text = asked.value.lower() if isinstance(asked.value, str) else ""
    is_address = re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", text)
    labels = re.fullmatch(r"([a-z0-9_-]{1,63}\.)*[a-z_-][a-z0-9_-]{0,62}", text)
    return not is_address and (not labels or len(text) > 253)


def no_mail(asked):
    return asked.value != "mailto:ops@example.com"


def no_point(asked):
    return not isinstance(asked.value, str) or not asked.value.startswith("BGsX0fLhLEJH")


def no_key(asked):
    return "PRIVATE KEY" not in str(asked.value)


def shows_nothing(asked):
    content = asked.json.get("notification", asked.json)
    alert = content.get("alert") if isinstance(content, dict) else None
    if isinstance(alert, dict) and {"title", "subtitle", "body", "titleLocKey", "subtitleLocKey", "locKey"}.isdisjoint(
            name for name in alert if alert[name] is not None):
        return True
    return not alert or asked.has("payload")


def not_empty(asked):
    return bool(asked.value)


def only_null(asked):
    return all(value is None or value is False for value in (asked.value or {}).values())


def depends_on_type(asked):
    return any(asked.has(name) for name in (
        "pushType", "payload", "liveActivity", "mdm", "wallet", "contentAvailable", "pushToTalk", "fileProvider", "web",
        "contentChanged", "data", "template", "topic"))


def depends_on_content(asked):
    return shows_nothing(asked) or depends_on_type(asked)


def is_inside_content(asked):
    """A member of content that the schemas leave open."""
    return re.search(r"(^|\.)(payload|liveActivity|localizations|web|data)(\.|$)", asked.path)


# The settings of a chat session that only one protocol has.
SETTINGS_OF = {"nick": "irc", "channels": "irc", "highlights": "irc", "authentication": "irc", "tls": "xmpp"}


def is_of_other_protocol(asked):
    """Whether a setting of a chat session belongs to the protocol that the session does not have, or to none."""
    place, _, name = asked.path.rpartition(".")
    if place != "settings" or not isinstance(asked.json, dict):
        return place.startswith("settings.")
    return name not in ("channelMessages", "showText") and SETTINGS_OF.get(name) != asked.json.get("protocol")


def is_inside_template(asked):
    return asked.path.startswith("content")


def has_expiration(asked):
    return asked.has("expiration") or asked.has("expiresIn")


def is_large(asked):
    return len(asked.request.body or b"") > 2000


def has(name):
    return lambda asked: asked.has(name)


def many(asked):
    return len(asked.request.body or b"") > 3000


def has_nul(asked):
    return "\0" in str(asked.value)


def has_control(asked):
    return any(ord(one) < 32 or ord(one) == 127 for one in str(asked.value))


def far_or_long(asked):
    """A range that ends before now, or not before some months."""
    begin, end = moment(asked.beside.get("from")), moment(asked.value)
    return end is not None and not 0 < end - (begin or time.time()) < 90 * DAY


def has_range(asked):
    return not {"from", "to", "step"}.isdisjoint(asked.request.query)


def makes_secret(asked):
    return "secret" in asked.json and (asked.has("generateSecret") or len(str(asked.json["secret"]).encode()) < 32)


def not_one(*names):
    """Not exactly one of these members or query items."""
    def test(asked):
        every = {**asked.request.query, **asked.json}
        return sum(every.get(name) is not None for name in names) != 1
    return test


def no_share(asked):
    return isinstance(asked.value, (int, float)) and not 0 <= asked.value <= 1


def is_public(asked):
    scopes = asked.json.get("scopes")
    return isinstance(scopes, list) and "registerSelf" in scopes


def spans_zones(asked):
    """A single spelling of a locale."""
    names = list((asked.json.get("localizations") or {}))
    return len(names) > 1


# code, operations, members, the test, the reason.
RULES = [
    ("invalid_value", "*", "*", has_nul, "no text has a NUL"),
    ("conflicting_field", "*", "*", several, "members that exclude each other"),
    ("no_such_app", "*", "app apps bundleId", given, "what is named has to be there"),
    ("no_such_audience", "*", "named", given, "what is named has to be there"),
    ("no_such_template", "*", "template id name version", has("template"), "what is named has to be there"),
    ("no_such_version", "*", "version", has("version"), "what is named has to be there"),
    ("no_such_device", "*", "device user token", given, "what is named has to be there"),
    ("no_such_notification", "*", "notification", given, "what is named has to be there"),
    ("no_such_file", "*", "file", given, "what is named has to be there"),
    ("no_such_variable", CONTENT, "*", has("template"), "a template says which variables there are"),
    ("missing_variable", CONTENT, "*", has("template"), "a template says which variables there are"),
    ("conflicting_field", {"previewTemplate"}, "variables", not_empty, "a template says whether there are variables"),
    ("nested_name", "*", "named", given, "an audience within an audience has no names"),
    ("invalid_cursor", "*", "cursor", given, "only what was given out is one"),
    ("invalid_cron", SCHEDULES, "cron", given, "the ranges of five fields"),
    ("never_runs", SCHEDULES, "cron", given, "a calendar decides"),
    ("never_open", CONTENT, "window quietHours", has("quietHours"), "quiet hours may leave nothing"),
    ("invalid_time", "*", "*", no_day, "February has no 30th"),
    ("invalid_date", "*", "*", no_day, "February has no 30th"),
    ("invalid_value", "*", "from to", no_day, "February has no 30th"),
    ("invalid_value", {"showOverview"}, "timeZone", no_zone, "the names of the zone database"),
    ("invalid_time_zone", "*", "timeZone defaultTimeZone", no_zone, "the names of the zone database"),
    ("in_the_past", "*", "*", past, "the clock decides"),
    ("past_time", "*", "*", past, "the clock decides"),
    ("too_far_ahead", "*", "*", far, "the clock decides"),
    ("starts_after_expiration", CONTENT, "*", has_expiration, "two times are compared"),
    ("missing_content", CONTENT, "alert badge payload web", shows_nothing, "one of many members, by push type"),
    ("missing_field", CONTENT, "containerIdentifier", depends_on_type, "a push type needs it"),
    ("not_mdm", CONTENT, "*", depends_on_type, "a push type needs it"),
    ("missing_content", CONTENT, "sound", only_null, "one of three members that is not false"),
    ("not_visible", CONTENT, "*", depends_on_content, "members that depend on the push type"),
    ("not_background", CONTENT, "*", depends_on_type, "members that depend on the push type"),
    ("needs_alert", CONTENT, "sound mutableContent", depends_on_content, "members that depend on the push type"),
    ("wrong_push_type", CONTENT, "*", depends_on_type, "members that depend on the push type"),
    ("wrong_type", CONTENT, "title subtitle body", lambda asked: isinstance(asked.value, dict), "objects are for Live Activities"),
    ("invalid_priority", CONTENT, "priority", depends_on_type, "members that depend on the push type"),
    ("invalid_topic", CONTENT, "topic pushType", depends_on_type, "the app decides"),
    ("missing_field", CONTENT, "*", is_inside_content, "what a payload needs depends on the push type"),
    ("invalid_value", CONTENT, "*", is_inside_content, "what a payload needs depends on the push type"),
    *((code, TEMPLATES, "*", is_inside_template, "the content of a template is open, and read as that of a notification")
      for code in ("wrong_type", "unknown_field", "invalid_value", "missing_field", "missing_content", "invalid_locale",
                   "too_long", "too_many")),
    ("repeated_locale", CONTENT, "*", spans_zones, "a locale has several spellings"),
    ("reserved_field", CONTENT, "*", has("aps"), "names inside of free content"),
    ("unknown_field", CONTENT, "*", has("localizations"), "the members of a localization depend on the content"),
    ("payload_too_large", CONTENT, "*", is_large, "the size of what is made of it"),
    ("invalid_expiration", CONTENT, "expiration expiresIn", no_duration, "the digits of a duration are bounded by its unit"),
    ("invalid_expiration", CONTENT, "expiration", lambda asked: no_day(asked) or past(asked), "the clock decides"),
    ("too_many", "*", "*", many, "the conditions of a whole audience"),
    ("invalid_token", "*", "*", no_token, "an even number of digits, or base64"),
    ("invalid_version", "*", "*", no_version, "the forms of versions"),
    ("invalid_credential", {"setCredential", "testCredential"}, "*", given, "a file of a credential"),
    ("wrong_passphrase", {"setCredential", "testCredential"}, "passphrase", anything, "a file of a credential"),
    ("invalid_subscription", DEVICES, "*", has("subscription"), "a point of a curve and 16 bytes"),
    ("invalid_value", DEVICES | {"setPreferences"}, "optOuts", has_control, "no control characters"),
    ("unknown_vapid_key", DEVICES, "vapidKey", given, "the app has keys of its own"),
    ("invalid_value", DEVICES, "vapidKey", no_point, "a point of a curve"),
    ("invalid_value", DEVICES, "key", given, "a point of a curve"),
    ("invalid_scopes", {"addKey", "changeKey"}, "scopes", is_public, "a public key has one scope"),
    ("invalid_scopes", {"changeKey"}, "scopes", given, "whether a key is public is judged by objects.py"),
    ("invalid_value", {"changeKey"}, "apps", lambda asked: asked.value is None, "a public key names its apps, as objects.py judges"),
    ("missing_field", {"addKey", "changeKey"}, "apps", is_public, "a public key names its apps"),
    ("missing_field", CHATS, "server", anything, "another protocol needs it"),
    ("invalid_value", CHATS, "vapidKey", no_point, "a point of a curve"),
    ("invalid_value", CHATS, "nick account", given, "a nick of IRC, which may be the account"),
    ("invalid_name", {"addPerson", "changePerson"}, "name", has_control, "no characters that cannot be seen"),
    ("invalid_value", SIGN_INS, "password", lambda asked: "\n" in str(asked.value) or "\r" in str(asked.value), "no line ends"),
    ("unknown_field", {"addChatSession", "addOwnChatSession"}, "*", is_of_other_protocol, "the settings depend on the protocol"),
    ("invalid_value", CHATS, "server domain", no_host, "the rules of host names"),
    ("unsupported_content_type", {"importDevices"}, "*", anything, "the form of a list depends on where it is from"),
    ("invalid_value", SCHEDULES, "until", not_later("from"), "later than from"),
    ("invalid_value", "*", "to", not_later("from"), "later than from"),
    ("invalid_value", "*", "component", given, "components are settings of the provider"),
    ("invalid_value", {"setBridge", "showBridge", "removeBridge", "listBridges"}, "kind", given, "bridges are settings"),
    ("invalid_value", NODES, "installation", not_one("installation", "user"), "an installation or a user, not both"),
    ("missing_field", {"replayWebhook"}, "since", not_one("since", "block"), "one of two"),
    ("invalid_value", {"setBridge"}, "secret", makes_secret, "a secret is given or made"),
    ("too_short", {"setBridge"}, "secret", makes_secret, "the URL of the client has it"),
    ("missing_field", {"setBridge"}, "*", anything, "the settings depend on the kind"),
    ("body_too_large", "*", "*", lambda asked: len(asked.request.body or b"") > 16 * 1024, "schemas know no whole size"),
    ("invalid_value", CONTENT, "relevanceScore", no_share, "a Live Activity has others"),
    ("invalid_value", {"timeline"}, "*", anything, "one of four"),
    ("missing_field", {"timeline"}, "app", anything, "a token needs its app"),
    ("invalid_value", "*", "url", no_url, "the rules of addresses"),
    ("invalid_value", {"setVapid"}, "contact", no_mail, "a domain of the internet"),
    ("invalid_value", "*", "privateKey", no_key, "a point of a curve"),
    ("invalid_value", {"setCredential", "testCredential"}, "p12", given, "an archive"),
    ("invalid_value", "*", "window", no_duration, "30 days, in any unit"),
    ("not_an_image", {"setCover"}, "file", anything, "what the file has inside"),
    ("invalid_value", {"showCalendar"}, "to", far_or_long, "93 days, from now on"),
    ("invalid_value", {"showStatistics"}, "step", has_range, "a range and its step"),
    ("invalid_value", "*", "days", lambda asked: len(asked.beside) > 1, "from, to or days"),
]

# What the document forbids and is answered 200 all the same, by operation and where.
ACCEPTED = {("registerDevices", "$.devices["): "each device of a batch has a result of its own",
            ("sendReceipts", "$.receipts["): "so has each receipt",
            ("*", "the content type"): "a body is read as JSON, however it is called"}

# What is refused for now, always with the time after which to come again.
LATER = {
    429: ("too_many_requests", "too_many_bytes", "too_many_queries", "too_many_pages", "too_many_tests", "too_many_receipts",
          "too_many_downloads", "too_many_upload_requests", "too_many_upload_bytes", "too_many_questions", "busy"),
    503: ("busy",),
}
# What only one operation is answered; whether the state makes it possible is judged by objects.py.
LATER_OF = {("downloadIssue", 503): ("entitlement_unavailable",)}


def is_later(operation, status, code):
    """Whether an operation may be put off so."""
    return code in LATER[status] + LATER_OF.get((operation, status), ())


def is_accepted(operation, why):
    return any(name in ("*", operation) and why.startswith(place) for name, place in ACCEPTED)


def is_known(request, code, path):
    """Whether a valid request may be refused so."""
    if code == "too_long" and request.body and b"\\u" in request.body:
        # Schemas count characters, the provider bytes.
        return True
    path = path or ""
    asked, member = Asked(request, path), re.sub(r"\[\d+\]$", "", path.rpartition(".")[2])
    return any(code == one and (operations == "*" or request.operation.id in operations)
               and (members == "*" or member in members.split()) and test(asked)
               for one, operations, members, test, _ in RULES)
