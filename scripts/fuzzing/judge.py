"""What the document promises of each answer."""

import json

import rules

# The methods and statuses that have no content.
EMPTY = (204, 304)


class Judge:
    def __init__(self, document, complain):
        self.document, self.complain = document, complain

    def look(self, request, fields, content):
        """Complains about an answer; sets what it says."""
        operation, status = request.operation, request.status
        if status is None:
            return self.complain(request, "silence", f"no answer: {content[:200]!r}")
        if status >= 500 and (status != 503 or 503 not in operation.responses):
            return self.complain(request, "5xx", f"{status} {content[:300]!r}")
        if status not in operation.responses:
            return self.complain(request, "undocumented", f"{status} {content[:300]!r}")
        if request.key is None and not operation.is_open and status not in (401, 429, 503):
            self.complain(request, "open", f"{status} without a key")
        self.look_at_content(request, fields, content)
        error = request.answer.get("error", {}) if isinstance(request.answer, dict) else {}
        if status in rules.LATER and operation.id != "ready":
            if not rules.is_later(operation.id, status, request.code) or not fields.get("retry-after", "").isdigit():
                kind = "5xx" if status == 503 else "refused"
                self.complain(request, kind, f"{status} {request.code}, retry after {fields.get('retry-after')!r}: {content[:300]!r}")
        if request.is_valid and request.key == "admin" and status in (401, 403):
            self.complain(request, "refused", f"{status} to an admin key: {content[:300]!r}")
        if request.is_valid and status in (400, 413, 415):
            if not rules.is_known(request, error.get("code"), error.get("field")):
                self.complain(request, "valid refused", f"{error.get('code')} {error.get('field')}: {error.get('message')}")
        if not request.is_valid and 200 <= status < 300 and not rules.is_accepted(operation.id, request.why):
            self.complain(request, "invalid accepted", f"{status}, though {request.why}")

    def look_at_content(self, request, fields, content):
        kinds = request.operation.responses[request.status]
        if request.operation.method == "HEAD" or request.status in EMPTY:
            if content:
                self.complain(request, "content", f"{request.status} has a content")
            return
        if not kinds:
            if content:
                self.complain(request, "content", f"the document knows of no content with {request.status}")
            return
        kind = fields.get("content-type", "")
        schema = kinds.get(kind) or kinds.get(kind.partition(";")[0])
        if schema is None:
            return self.complain(request, "content type", f"{kind!r} with {request.status}")
        if kind.partition(";")[0] != "application/json":
            return
        try:
            request.answer = json.loads(content)
        except ValueError:
            return self.complain(request, "content", f"no JSON: {content[:200]!r}")
        if fault := self.document.fault(schema, request.answer):
            self.complain(request, "shape", f"{request.status}: {fault}")
