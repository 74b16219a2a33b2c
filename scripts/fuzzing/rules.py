"""Refusals that no schema states: rules between members, and rules that depend on what is there. Each is written
`code operation member`, with * for any operation or any member; the text is the reason."""

ANY = {
    "conflicting_field": "members that exclude each other",
    "no_such_app": "what a body names has to be there", "no_such_audience": "what a body names has to be there",
    "no_such_template": "what a body names has to be there", "no_such_device": "what a body names has to be there",
    "no_such_notification": "what a body names has to be there", "no_such_file": "what a body names has to be there",
    "no_such_variable": "a template says which variables there are", "missing_variable": "as no_such_variable",
    "nested_name": "an audience within an audience has no names",
    "invalid_cursor": "only what was given out is one", "invalid_cron": "the ranges of five fields",
    "never_runs": "a calendar decides", "invalid_time": "February has no 30th", "invalid_date": "February has no 30th",
    "invalid_time_zone": "the names of the zone database", "in_the_past": "the clock decides", "past_time": "the clock decides",
    "too_far_ahead": "the clock decides", "starts_after_expiration": "two times are compared",
    "missing_content": "one of many members, by push type", "not_visible": "members that depend on the push type",
    "needs_alert": "members that depend on the push type", "invalid_expiration": "the digits of a duration are bounded by its unit",
    "wrong_push_type": "members that depend on the push type", "payload_too_large": "the size of what is made of it",
    "invalid_token": "an even number of digits, or base64", "invalid_version": "the forms of versions",
    "invalid_credential": "a file of a credential",
    "invalid_subscription": "a point of a curve and 16 bytes",
    "reserved_field": "names inside of free content", "invalid_topic": "the app decides",
}

RULES = {
    "invalid_scopes * scopes": "a public key has one scope",
    "missing_field * apps": "a public key names its apps",
    "missing_field * server": "another protocol needs it",
    "unsupported_content_type importDevices *": "the form of a list depends on where it is from",
    "invalid_value * account": "the form depends on the protocol",
    "invalid_value * until": "later than from",
    "invalid_value * to": "later than from",
    "invalid_value * component": "components are settings of the provider",
    "invalid_value * kind": "bridges are settings",
    "invalid_value * installation": "an installation or a user, not both",
    "invalid_value timeline *": "one of four",
    "missing_field timeline app": "a token needs its app",
    "invalid_value * url": "the rules of addresses",
    "invalid_value * contact": "a domain of the internet",
    "invalid_value * privateKey": "a point of a curve",
    "invalid_value * p12": "an archive",
    "invalid_value * vapidKey": "a point of a curve",
    "invalid_value * window": "30 days, in any unit",
    "invalid_value * server": "the rules of host names",
    "invalid_value * domain": "the rules of host names",
    "invalid_priority * priority": "members that depend on the push type",
    "invalid_value * relevanceScore": "a Live Activity has others",
    "invalid_value * step": "a range and its step",
    "invalid_value * key": "a point of a curve",
    "invalid_value * days": "from, to or days",
}

# What the document forbids and is answered 200 all the same, by operation and where.
ACCEPTED = {("registerDevices", "$.devices["): "each device of a batch has a result of its own"}


def is_accepted(operation, why):
    return any(operation == name and why.startswith(place) for name, place in ACCEPTED)


def is_known(operation, code, member, body):
    """Whether a valid request may be refused so."""
    if code in ANY:
        return True
    if code == "too_long" and body and b"\\u" in body:
        # Schemas count characters, the provider bytes.
        return True
    member = (member or "").rpartition(".")[2].partition("[")[0]
    return any(f"{code} {one} {two}" in RULES for one in (operation, "*") for two in (member, "*"))
