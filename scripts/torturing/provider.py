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

    def __init__(self, options, folder):
        self.options, self.folder, self.key, self.process, self.port = options, folder, None, None, None
        self.log_path = f"{options.work}/provider-{os.path.basename(folder)}.log"

    def launch(self):
        self.log = open(self.log_path, "wb+")
        service = f"localhost:{self.options.http2_port}"
        self.process = subprocess.Popen(
            [self.options.martlet, "serve", "--data-directory", self.folder, "--port", "0", "--log-format", "json"]
            + ["--sandbox-service", service, "--production-service", service]
            + ["--service-authority", f"{self.options.work}/gateway/authority.pem"]
            + ["--allow-private-webhooks", "--allow-http-webhooks"],
            stdout=self.log, stderr=self.log)
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
                    self.port = int(json.loads(line)["metadata"]["api"].split(":")[2].split("/")[0])
                    return time.monotonic() - begin
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        fail(f"the provider does not open:\n{self.text()[-2000:]}")

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
        self.must("POST", "/v1/apps", {"bundleId": APP})
        with open(f"{self.options.work}/key.p8") as file:
            key = {"teamId": "DEF123GHIJ", "keyId": "ABC123DEFG", "privateKey": file.read()}
        for environment in ("sandbox", "production"):
            self.must("PUT", f"/v1/apps/{APP}/credentials/{environment}", key)
        devices = [
            {"token": token, "environment": "sandbox", "tags": [f"group{index % GROUPS}"],
             "user": f"user-{token}", "timeZone": ZONES[index // GROUPS % len(ZONES)]}
            for index, token in enumerate(tokens)]
        for first in range(0, len(devices), 1000):
            self.must("POST", f"/v1/apps/{APP}/devices:batch", {"devices": devices[first:first + 1000]})

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
