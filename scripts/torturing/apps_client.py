"""Requests of callers that have addresses of their own, for the part with many apps."""

import collections
import http.client
import json

Reply = collections.namedtuple("Reply", "status headers body")


class Refused(Exception):
    """A request has no good answer; the text names what was said."""


# The address of a good caller. It is not 127.0.0.1, whose connections have no rate.
GOOD = "127.0.0.2"


def stranger(number=0):
    """The address of a caller: each is in another network."""
    return f"127.{1 + number // 250}.{number % 250}.2"


class Client:
    """Requests to the provider from one address; headers are those of every request."""

    def __init__(self, port, address=GOOD, headers=None, timeout=20):
        self.port, self.address, self.headers, self.timeout = port, address, headers or {}, timeout

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout, source_address=(self.address, 0))

    def ask(self, method, path, body=None, headers=None):
        """The reply; None without one. A dictionary goes as JSON."""
        kind = {"content-type": "application/json"} if isinstance(body, dict) else {}
        content = json.dumps(body) if isinstance(body, dict) else body
        connection = self.connect()
        try:
            connection.request(method, path, content, {**kind, **self.headers, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def must(self, method, path, body=None, headers=None, good=range(200, 300)):
        """The reply, which has to be a good one."""
        reply = self.ask(method, path, body, headers)
        if reply is None:
            raise Refused(f"{method} {path.split('?')[0]}: no answer in {self.timeout} s")
        if reply.status not in good:
            text = reply.body[:300].decode(errors="replace")
            raise Refused(f"{method} {path.split('?')[0]}: {reply.status} {text}")
        return reply

    def json(self, method, path, body=None, headers=None):
        return json.loads(self.must(method, path, body, headers).body or b"{}")

    def status(self, *request):
        """The status of an answer that does not matter."""
        reply = self.ask(*request)
        return reply.status if reply else None


def with_key(key):
    return {"authorization": f"Bearer {key}"}
