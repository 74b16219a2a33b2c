"""The `martlet serve` that is tormented."""

import atexit
import json
import os
import signal
import sqlite3
import subprocess
import time

from basics import APP, call, fail, must

GROUPS = 10
# The second is behind all others' clocks, so that a local time comes there last.
HONOLULU = "Pacific/Honolulu"
ZONES = [None, HONOLULU, "Europe/Berlin"]


class Provider:
    """A provider that is started on the same data again and again."""

    def __init__(self, options, folder, service=None, arguments=(), variables=None):
        """Without a push service of its own it sends to the gateway; variables are of the environment."""
        self.options, self.folder, self.key, self.process, self.port = options, folder, None, None, None
        self.arguments, self.variables = list(arguments), variables or {}
        self.log_path = f"{options.work}/provider-{os.path.basename(folder)}.log"
        gateway = {"sandbox": options.http2_port, "production": options.http2_port}
        self.ports = service.ports if service else gateway
        self.authority = service.authority if service else f"{options.work}/gateway/authority.pem"

    def launch(self):
        self.log = open(self.log_path, "wb+")
        self.process = subprocess.Popen(
            [self.options.martlet, "serve", "--data-directory", self.folder, "--port", "0", "--log-format", "json"]
            + ["--sandbox-service", f"localhost:{self.ports['sandbox']}"]
            + ["--production-service", f"localhost:{self.ports['production']}"]
            + ["--service-authority", self.authority]
            + ["--allow-private-webhooks", "--allow-http-webhooks"] + self.arguments,
            stdout=self.log, stderr=self.log, env={**os.environ, **self.variables})
        # Whatever fails here, no provider outlives the script.
        atexit.register(self.process.kill)

    def start(self):
        """Seconds until it is open."""
        begin = time.monotonic()
        self.launch()
        while time.monotonic() - begin < 60:
            text = self.text()
            for line in text.splitlines():
                if "admin API key" in line:
                    self.key = line.split()[-1]
                if '"provider is open"' in line:
                    self.read_key_file()
                    self.port = int(json.loads(line)["metadata"]["api"].split(":")[2].split("/")[0])
                    return time.monotonic() - begin
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        fail(f"the provider does not open:\n{self.text()[-2000:]}")

    def read_key_file(self):
        """The first admin key, where it was not printed."""
        if "--admin-key-file" in self.arguments:
            try:
                with open(self.arguments[self.arguments.index("--admin-key-file") + 1]) as file:
                    self.key = file.read().strip()
            except OSError as error:
                fail(f"the provider is open and nobody has its first admin key: {error}")

    def text(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=60) != 0:
            fail(f"an orderly end failed:\n{self.text()[-2000:]}")

    def call(self, method, path, body=None, headers=None):
        return call(self.port, method, path, body, {"authorization": f"Bearer {self.key}", **(headers or {})})

    def must(self, method, path, body=None):
        return must(self.call(method, path, body), f"{method} {path}")

    def database(self, mode="ro"):
        return sqlite3.connect(f"file:{self.folder}/provider.sqlite?mode={mode}", uri=True)

    def set_up(self, tokens):
        """The app, its credential, and a device for each token, in groups with several time zones each."""
        self.add_app(APP)
        devices = [
            {"token": token, "environment": "sandbox", "tags": [f"group{index % GROUPS}"],
             "user": f"user-{token}", "timeZone": ZONES[index // GROUPS % len(ZONES)]}
            for index, token in enumerate(tokens)]
        self.register(APP, devices)

    def add_app(self, app):
        """The app and its credentials."""
        self.must("POST", "/v1/apps", {"bundleId": app})
        with open(f"{self.options.work}/key.p8") as file:
            key = {"teamId": "DEF123GHIJ", "keyId": "ABC123DEFG", "privateKey": file.read()}
        for environment in ("sandbox", "production"):
            self.must("PUT", f"/v1/apps/{app}/credentials/{environment}", key)

    def register(self, app, devices):
        for first in range(0, len(devices), 1000):
            self.must("POST", f"/v1/apps/{app}/devices:batch", {"devices": devices[first:first + 1000]})

    def send(self, app, body, key=None):
        """The id of an accepted notification."""
        headers = {"idempotency-key": key} if key else {}
        return must(self.call("POST", f"/v1/apps/{app}/notifications", body, headers), "a notification")["id"]

    def await_end(self, identities, seconds):
        """What the API says of these notifications once all have ended."""
        end = time.monotonic() + seconds
        while True:
            answers = [self.must("GET", f"/v1/notifications/{identity}") for identity in identities]
            rest = [answer for answer in answers if answer["state"] not in ("done", "cancelled")]
            if not rest:
                return answers
            if time.monotonic() > end:
                fail(f"{len(rest)} of {len(answers)} notifications stand still for {seconds} s, such as {rest[0]}")
            time.sleep(0.2)

    def deliveries(self, identity):
        """All final states of a notification."""
        found, cursor = [], ""
        while True:
            page = self.must("GET", f"/v1/notifications/{identity}/deliveries?limit=1000{cursor}")
            found += page["deliveries"]
            if not page.get("next"):
                return found
            cursor = f"&cursor={page['next']}"

    def wait_until_done(self, seconds=240):
        """Until every notification has ended, and everybody who waited for another try of a cancelled one."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            database = self.database()
            rest = database.execute(
                "SELECT (SELECT count(*) FROM notification WHERE state NOT IN ('done', 'cancelled'))"
                " + (SELECT count(*) FROM retry)").fetchone()[0]
            database.close()
            if rest == 0:
                return time.monotonic() - begin
            time.sleep(0.2)
        fail(f"{rest} notifications and retries do not end")
