#!/usr/bin/env python3
"""Replays a gorush client: gorush-client.py PORT KEY NAME TOKEN [TOKEN...], where NAME is one of the requests below.

Not a capture. Each request is written down, byte by byte, as a Go program with net/http sends the JSON of gorush's documented
examples: the header fields of Go 1.2x in their order, and nothing that gorush itself does not take. Only the base URL (its prefix
/gorush/default) and the Authorization field are what a team changes. Prints the status and the body of the response.
"""

import json
import socket
import sys

REQUESTS = {
    "alert": {
        "notifications": [
            {
                "tokens": ["TOKENS"],
                "platform": 1,
                "topic": "com.example.MyApp",
                "title": "Tea",
                "message": "It is ready",
                "badge": 1,
                "sound": {"critical": 0, "name": "default", "volume": 1.0},
                "data": {"key1": "welcome", "key2": 2},
                "notif_id": "n1",
                "development": True,
            }
        ]
    },
    "everything": {
        "notifications": [
            {
                "tokens": ["TOKENS"],
                "platform": 1,
                "message": "Hello World iOS!",
                "alert": {
                    "title": "Hello",
                    "subtitle": "World",
                    "action": "open",
                    "action-loc-key": "Open",
                    "launch-image": "image",
                    "loc-args": ["a", "b"],
                    "loc-key": "loc-key",
                    "title-loc-args": ["c"],
                    "title-loc-key": "title",
                },
                "apns": {},
                "category": "PUSH",
                "thread-id": "th",
                "mutable_content": True,
                "collapse_id": "c1",
                "priority": "high",
                "push_type": "alert",
                "expiration": 4000000000,
                "retry": 2,
                "development": True,
            },
            {"tokens": ["an-android-token"], "platform": 2, "message": "Hello World Android!"},
        ]
    },
    "silent": {
        "notifications": [
            {
                "tokens": ["TOKENS"],
                "platform": 1,
                "content_available": True,
                "data": {"refresh": True},
                "development": True,
            }
        ]
    },
    "empty": {"notifications": []},
    "missing": {},
    "many": {"notifications": [{"platform": 1, "tokens": []}] * 101},
}


def fill(value, tokens):
    if value == ["TOKENS"]:
        return tokens
    if isinstance(value, dict):
        return {name: fill(member, tokens) for name, member in value.items()}
    if isinstance(value, list):
        return [fill(entry, tokens) for entry in value]
    return value


def main():
    port, key, name, tokens = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    # encoding/json writes no spaces.
    body = json.dumps(fill(REQUESTS[name], tokens), separators=(",", ":"), ensure_ascii=False).encode()
    head = (
        f"POST /gorush/default/api/push HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Go-http-client/1.1\r\n"
        f"Content-Length: {len(body)}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.encode() + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += receive(connection)
        top, rest = answer.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b": ", 1) for line in top.split(b"\r\n")[1:])
        while len(rest) < int(fields[b"content-length"]):
            rest += receive(connection)
    if b"x-gorush-version" not in fields:
        sys.exit("the response has no x-gorush-version")
    print(top.split(b" ")[1].decode(), rest.decode())


def receive(connection):
    data = connection.recv(65536)
    if not data:
        sys.exit("the connection ended before the response")
    return data


main()
