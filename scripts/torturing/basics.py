"""What all parts share: failing, figures, requests."""

import http.client
import json
import os

APP = "com.example.MyApp"


class Failure(Exception):
    """Something is not as it was promised."""


def fail(text):
    raise Failure(text)


def size(name, default):
    """How much of something, from the environment."""
    text = os.environ.get(name)
    return int(text) if text else default


def figure(name, value, unit):
    print(f"figure {name} {value:.6g} {unit}", flush=True)


def call(port, method, path, body=None, headers=None, timeout=20):
    """The status and the JSON of the answer; None without an answer. A dictionary goes as JSON, an iterable as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        content = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, content, {"content-type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else {}
    except (OSError, http.client.HTTPException, ValueError):
        return None, None
    finally:
        connection.close()


def must(answer, what):
    """The JSON of an answer that has to be a good one."""
    status, content = answer
    if status is None or not 200 <= status < 300:
        fail(f"{what}: {status} {content}")
    return content
