"""The running provider and the gateway: requests to their APIs, and people with roles."""
import http.client
import itertools
import json
import os
import time
import urllib.parse

ORIGIN = os.environ["WEB_PROVIDER"]
KEY = os.environ["WEB_KEY"]
WORK = os.environ["WEB_WORK"]
PASSWORD = "a long and quiet evening"
ROLES = ["viewer", "author", "operator", "admin"]
_numbers = itertools.count(1)


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.body) if self.body else None


def request(method, path, body=None, headers=(), origin=ORIGIN, timeout=120):
    """One request, which follows nothing. `path` may be a whole address below `origin`."""
    url = urllib.parse.urlsplit(origin)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)
    try:
        connection.request(method, path.removeprefix(origin), body, dict(headers))
        response = connection.getresponse()
        return Response(response.status, response.headers, response.read())
    finally:
        connection.close()


def api(method, path, body=None, key=KEY, origin=ORIGIN, allow=()):
    """A request to the REST API with JSON; fails unless it succeeds or has an allowed status."""
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    data = None if body is None else json.dumps(body)
    response = request(method, path, data, headers, origin)
    if response.status >= 400 and response.status not in allow:
        raise AssertionError(f"{method} {path}: {response.status} {response.text}")
    return response.json


def gateway(method, path, body=None, allow=()):
    return api(method, path, body, key=None, origin=os.environ["WEB_GATEWAY"], allow=allow)


def wait_for(condition, seconds=30, what="a condition"):
    """Asks until the condition holds, and returns what it returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true within {seconds} s"
        time.sleep(0.1)


class Person:
    """Somebody who signs in: with a name and a password, or with an API key."""

    def __init__(self, role, name=None, password=None, key=None):
        self.role, self.name, self.password, self.key = role, name, password, key

    @property
    def fields(self):
        return {"key": self.key} if self.key else {"name": self.name, "password": self.password}


def new_key(scopes, apps=None):
    body = {"name": f"web {next(_numbers)}", "scopes": scopes}
    if apps is not None:
        body["apps"] = apps
    return api("POST", "/v1/keys", body)["key"]


def new_person(role, apps=None, name=None):
    """A new person of a role, who has chosen a password by the one-time link."""
    name = name or f"{role}-{next(_numbers)}"
    body = {"name": name, "role": role}
    if apps is not None:
        body["apps"] = apps
    response = api("POST", "/v1/people", body)
    link = urllib.parse.urlsplit(response["link"])
    fields = urllib.parse.urlencode({"name": "", "password": PASSWORD, "again": PASSWORD})
    done = request("POST", link.path, fields, {"content-type": "application/x-www-form-urlencoded"})
    assert done.status == 303, f"the link of {name}: {done.status} {done.text[:500]}"
    return Person(role, name=name, password=PASSWORD)


class Visit:
    """A session of the dashboard without a browser: a cookie and the token of its forms."""

    def __init__(self, person=None):
        self.cookie = None
        if person:
            self.sign_in(person)

    def headers(self, more=()):
        headers = {"cookie": self.cookie} if self.cookie else {}
        headers.update(more)
        return headers

    def keep(self, response):
        for field in response.headers.get_all("set-cookie") or []:
            pair = field.split(";")[0]
            self.cookie = pair if pair.split("=", 1)[1] else None
        return response

    def get(self, path, headers=()):
        return self.keep(request("GET", path, headers=self.headers(headers)))

    def post(self, path, fields, headers=()):
        more = {"content-type": "application/x-www-form-urlencoded", **dict(headers)}
        return self.keep(request("POST", path, urllib.parse.urlencode(fields, doseq=True), self.headers(more)))

    def sign_in(self, person):
        response = self.post("/dashboard/sign-in", person.fields)
        assert response.status == 303, f"{person.role} cannot sign in: {response.status} {response.text[:1000]}"

    @property
    def csrf(self):
        """The token of the session's forms: that of the button with which one signs out."""
        text = self.get("/dashboard/account").text
        return text.split('name="csrf" value="', 1)[1].split('"', 1)[0]
