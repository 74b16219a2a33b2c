"""Requests on connections that are kept open, one for each worker."""

import http.client
import json
import urllib.parse

# A request and its answer; moments in nanoseconds on one clock. `is_valid` says what the document thinks of it.
class Step:
    number = worker = operation = None
    path, query, headers, body, kind = None, None, None, None, None
    is_valid, why, key = True, None, "admin"
    invoked = answered = 0
    status, answer = None, None
    # The port of what the provider was told to call.
    receiver = None

    def __init__(self, **members):
        self.__dict__.update(members)

    @property
    def code(self):
        error = self.answer.get("error") if isinstance(self.answer, dict) else None
        return error.get("code") if isinstance(error, dict) else None

    @property
    def target(self):
        target = self.operation.path
        for name, value in self.path.items():
            target = target.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
        query = urllib.parse.urlencode(self.query, quote_via=urllib.parse.quote)
        return target + ("?" + query if query else "")

    @property
    def json(self):
        """The members of the body, which is JSON however it is called; empty without any."""
        try:
            value = json.loads(self.body) if self.body else {}
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def record(self):
        """What a history keeps of it."""
        body = self.body.decode("latin-1") if self.body is not None else None
        answer = json.dumps(self.answer)
        return {"step": self.number, "worker": self.worker, "operation": self.operation.id, "path": self.path,
                "query": self.query, "headers": self.headers, "kind": self.kind, "body": body, "key": self.key,
                "isValid": self.is_valid, "why": self.why, "invoked": self.invoked, "answered": self.answered,
                "receiver": self.receiver, "status": self.status, "answer": self.answer if len(answer) < 20_000 else answer[:2000]}


class Client:
    def __init__(self, port, keys):
        self.port, self.keys, self.connection = port, keys, None

    def send(self, step):
        """The status, the header fields and the content; None without an answer."""
        headers = dict(step.headers)
        if step.key:
            headers["authorization"] = f"Bearer {self.keys[step.key]}"
        if step.kind:
            headers["content-type"] = step.kind
        for attempt in (0, 1):
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                self.connection.request(step.operation.method, step.target, step.body, headers)
                answer = self.connection.getresponse()
                content = answer.read()
                if answer.will_close:
                    self.close()
                return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # The provider may have closed a connection that was not used for a while.
                if fresh or not isinstance(error, (http.client.RemoteDisconnected, ConnectionError)):
                    return None, {}, repr(error).encode()
        return None, {}, b"closed twice"

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None
