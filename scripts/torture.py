"""Torments a provider for scripts/torture: kills it at random moments, or takes its disk away, and proves what is left."""

import argparse
import atexit
import collections
import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

APP = "com.example.MyApp"
# What the provider declares (DispatchLimits): recipients of a page, pages under way for campaigns, single notifications.
PAGE, WALKERS, URGENT = 1000, 4, 8 * 64


def fail(text):
    print(f"torture: {text}", file=sys.stderr)
    sys.exit(1)


def figure(name, value, unit):
    print(f"figure {name} {value:.6g} {unit}", flush=True)


def call(port, method, path, body=None, headers=None, timeout=20):
    """The status and the JSON of the answer; None without an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"content-type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else {}
    except (OSError, http.client.HTTPException, ValueError):
        return None, None
    finally:
        connection.close()


class Provider:
    """A `martlet serve` that is started on the same data again and again."""

    def __init__(self, options, folder):
        self.options, self.folder, self.key, self.process, self.port = options, folder, None, None, None
        self.log_path = f"{options.work}/provider-{os.path.basename(folder)}.log"

    def launch(self):
        self.log = open(self.log_path, "wb+")
        service = f"localhost:{self.options.http2_port}"
        self.process = subprocess.Popen(
            [self.options.martlet, "serve", "--data-directory", self.folder, "--port", "0", "--log-format", "json"]
            + ["--sandbox-service", service, "--production-service", service]
            + ["--service-authority", f"{self.options.work}/gateway/authority.pem"],
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
        status, answer = self.call(method, path, body)
        if status is None or not 200 <= status < 300:
            fail(f"{method} {path}: {status} {answer}")
        return answer

    def database(self):
        return sqlite3.connect(f"file:{self.folder}/provider.sqlite?mode=ro", uri=True)

    def set_up(self, tokens):
        """The app, its credential, and a device for each token."""
        self.must("POST", "/v1/apps", {"bundleId": APP})
        with open(f"{self.options.work}/key.p8") as file:
            key = {"teamId": "DEF123GHIJ", "keyId": "ABC123DEFG", "privateKey": file.read()}
        for environment in ("sandbox", "production"):
            self.must("PUT", f"/v1/apps/{APP}/credentials/{environment}", key)
        for token in tokens:
            self.must("POST", f"/v1/apps/{APP}/devices", {"token": token, "environment": "sandbox"})


class Registrar:
    """Registers devices of the other environment, one after the other, and remembers which were answered for."""

    def __init__(self, provider):
        self.provider, self.confirmed, self.refused, self.is_over = provider, [], collections.Counter(), False

    def run(self):
        while not self.is_over:
            token = os.urandom(32).hex()
            body = {"token": token, "environment": "production", "tags": ["new"], "attributes": {"name": "Person"}}
            status, _ = self.provider.call("POST", f"/v1/apps/{APP}/devices", body)
            if status in (200, 201):
                self.confirmed.append(token)
            elif status is not None:
                self.refused[status] += 1

    def __enter__(self):
        self.is_over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()

    def prove(self, database):
        """Whoever was answered is stored."""
        stored = {row[0].hex() for row in database.execute("SELECT token FROM device WHERE environment = 1")}
        stored |= {row[0].hex() for row in database.execute("SELECT token FROM device WHERE environment = 0")}
        lost = [token for token in self.confirmed if token not in stored]
        if lost:
            fail(f"{len(lost)} registrations were answered and are not stored")


class Gateway:
    """What the gateway's event log says was received."""

    def __init__(self, port):
        self.port, self.last, self.received, self.devices = port, 0, collections.Counter(), {}

    def must(self, method, path, body=None):
        status, answer = call(self.port, method, path, body)
        if status is None or not 200 <= status < 300:
            fail(f"gateway: {method} {path}: {status} {answer}")
        return answer

    def read(self):
        """Reads on in the log. How many notifications came that had come before."""
        doubled = 0
        while True:
            events = self.must("GET", f"/v1/events?topic={APP}&after={self.last}&limit=1000")["events"]
            for event in events:
                self.last = event["id"]
                if event["event"] == "Received by APNs" and event.get("apnsId"):
                    apns_id = event["apnsId"].lower()
                    doubled += apns_id in self.received
                    self.received[apns_id] += 1
                    self.devices.setdefault(apns_id, set()).add(event["device"])
            if not events:
                return doubled


def wait_until_done(provider, seconds=240):
    """Until every notification has ended; the provider works on meanwhile."""
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        database = provider.database()
        rest = database.execute("SELECT count(*) FROM notification WHERE state NOT IN ('done', 'cancelled')").fetchone()
        database.close()
        if rest[0] == 0:
            return time.monotonic() - begin
        time.sleep(0.2)
    fail(f"{rest[0]} notifications do not end")


def check_rest(database):
    """Nothing is stuck, and the file is sound."""
    questions = {
        "retries": "SELECT count(*) FROM retry",
        "shards": "SELECT count(*) FROM shard",
        "begun deliveries": "SELECT count(*) FROM delivery WHERE state = 0",
        "rows without their notification": "SELECT count(*) FROM delivery WHERE notification NOT IN (SELECT number FROM notification)",
    }
    for what, question in questions.items():
        count = database.execute(question).fetchone()[0]
        if count:
            fail(f"{count} {what} are stuck")
    verdict = [row[0] for row in database.execute("PRAGMA integrity_check")]
    if verdict != ["ok"] or database.execute("PRAGMA foreign_key_check").fetchall():
        fail(f"the database is damaged: {verdict[:5]}")


class Campaigns:
    """Sends notifications of all kinds; each keeps its idempotency key until it is answered."""

    KINDS = ["campaign", "campaign", "paced", "once", "once-paced", "later", "single"]

    def __init__(self, provider, tokens, rng):
        self.provider, self.tokens, self.rng = provider, tokens, rng
        self.open, self.answered, self.kinds, self.singles = {}, {}, {}, 0

    def make(self):
        kind = self.rng.choice(self.KINDS)
        body = {"to": {"all": True}, "environment": "sandbox", "alert": f"a {kind} notification"}
        if kind.startswith("once"):
            body["guarantee"] = "atMostOnce"
        if kind.endswith("paced"):
            body["pace"] = {"rate": self.rng.choice([500, 2000, 5000])}
        if kind == "later":
            body["when"] = {"at": int((time.time() + self.rng.uniform(0.3, 3)) * 1000)}
        if kind == "single":
            body["to"] = {"tokens": self.rng.sample(self.tokens, self.rng.randint(1, 20))}
        key = str(uuid.UUID(int=self.rng.getrandbits(128)))
        self.open[key], self.kinds[key] = body, kind

    def send(self):
        """All that have no answer yet: the new ones, and those whose answer a kill has cut off."""
        for key, body in list(self.open.items()):
            status, answer = self.provider.call(
                "POST", f"/v1/apps/{APP}/notifications", body, {"idempotency-key": key})
            if status == 202:
                self.answered[key] = answer["id"]
                del self.open[key]
            elif status == 400 and "when" in body:
                # Its time has passed while nobody answered.
                body["when"] = {"at": int((time.time() + 0.5) * 1000)}
                status, _ = self.provider.call("GET", "/health")
            elif status is not None:
                fail(f"a notification was refused: {status} {answer}")

    def drive(self, until):
        while time.monotonic() < until:
            self.make()
            self.send()
            time.sleep(self.rng.uniform(0.02, 0.3))


def prove_deliveries(database, gateway, campaigns):
    """The ledger against the gateway's log."""
    for key, notification in campaigns.answered.items():
        row = database.execute("SELECT id FROM notification WHERE idempotencyKey = ?", (key,)).fetchall()
        if [found[0].upper() for found in row] != [notification.upper()]:
            fail(f"notification {notification} was answered with 202 and is stored as {row}")
    known, totals = set(), collections.Counter()
    rows = database.execute("SELECT number, id, guarantee, recipients, audience FROM notification").fetchall()
    for number, identity, guarantee, recipients, audience in rows:
        prefix, devices, count = identity.lower()[:14] + "8" + identity.lower()[15:18], {}, 0
        for recipient, state in database.execute(
                "SELECT recipient, state FROM delivery WHERE notification = ?", (number,)):
            tail = f"{recipient & (2 ** 62 - 1) | 2 ** 63:016x}"
            apns_id, count = f"{prefix}-{tail[:4]}-{tail[4:]}", count + 1
            known.add(apns_id)
            times = gateway.received[apns_id]
            totals[guarantee, state] += 1
            if state == 1 and times == 0:
                fail(f"{apns_id} is accepted in the ledger and was never received")
            if guarantee == "atLeastOnce" and state != 1:
                fail(f"{apns_id} has ended in state {state}")
            if guarantee == "atMostOnce" and times > 1:
                fail(f"{apns_id} was to come at most once and came {times} times")
            for device in gateway.devices.get(apns_id, ()):
                if devices.setdefault(device, apns_id) != apns_id:
                    fail(f"a device got notification {identity} under two ids")
            if len(gateway.devices.get(apns_id, ())) > 1:
                fail(f"{apns_id} went to several devices")
        if count != recipients:
            fail(f"notification {identity} has {count} final states for {recipients} recipients: {audience}")
    strays = [apns_id for apns_id in gateway.received if apns_id not in known]
    if strays:
        fail(f"{len(strays)} notifications were received that the ledger does not know, such as {strays[0]}")
    return totals


def kills(options, tokens, rng):
    provider, gateway = Provider(options, f"{options.work}/provider"), Gateway(options.admin_port)
    provider.start()
    provider.set_up(tokens)
    gateway.must("POST", "/v1/faults", {"reason": "ServiceUnavailable", "percent": 4})
    gateway.must("POST", "/v1/faults", {"latency": "1ms..60ms", "percent": 50})
    campaigns, registrar = Campaigns(provider, tokens, rng), Registrar(provider)
    doubled, restarts, struck = [], [], 0
    for number in range(options.kills):
        with registrar:
            campaigns.drive(time.monotonic() + rng.uniform(0.05, 1.5))
            kill = threading.Timer(rng.uniform(0, 0.1), provider.kill)
            kill.start()
            campaigns.make()
            campaigns.send()
            kill.join()
        database = provider.database()
        struck += database.execute("SELECT count(*) FROM shard WHERE leaseUntil IS NOT NULL").fetchone()[0] > 0
        database.close()
        # What had arrived before the kill belongs to the one before.
        late = gateway.read()
        if doubled:
            doubled[-1] += late
        restarts.append(provider.start())
        doubled.append(0)
        campaigns.send()
        if number % 20 == 19:
            print(f"{number + 1} kills, {sum(gateway.received.values())} received", flush=True)
    gateway.must("DELETE", "/v1/faults")
    seconds = wait_until_done(provider)
    provider.stop()
    doubled[-1] += gateway.read()
    database = provider.database()
    totals = prove_deliveries(database, gateway, campaigns)
    registrar.prove(database)
    check_rest(database)
    window = PAGE * WALKERS + 2 * PAGE + URGENT * 20
    if max(doubled) > window:
        fail(f"{max(doubled)} came again after one kill, more than the declared {window}")
    figure("torture_kills", options.kills, f"kills, {struck} of them with pages under way")
    figure("torture_notifications", len(campaigns.answered), "notifications accepted, all stored")
    figure("torture_received", len(gateway.received), "different pushes at the gateway")
    figure("torture_lost", 0, "pushes")
    figure("torture_doubled", sum(doubled), "pushes, all with the apns-id of the first")
    figure("torture_doubled_by_one_kill", max(doubled), f"pushes at most, declared are {window}")
    figure("torture_interrupted", totals["atMostOnce", 3], "of at-most-once, ended as failed; none came twice")
    figure("torture_registrations", len(registrar.confirmed), "registrations answered, all stored")
    figure("torture_restart", max(restarts), "s at most until the API is open")
    figure("torture_rest", seconds, "s until all had ended after the last kill")


def disk(options, tokens, rng):
    folder = f"{options.work}/disk"
    os.makedirs(folder)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], check=True)
    provider, gateway = Provider(options, f"{folder}/data"), Gateway(options.admin_port)
    gateway.read()
    gateway.received.clear()
    provider.start()
    provider.set_up(tokens)
    campaigns, registrar = Campaigns(provider, tokens, rng), Registrar(provider)
    Campaigns.KINDS = ["campaign", "paced"]
    with registrar:
        campaigns.drive(time.monotonic() + 1)
        fill(f"{folder}/filler")
        refused, begin = None, time.monotonic()
        while time.monotonic() - begin < 10:
            key = str(uuid.uuid4())
            body = {"to": {"all": True}, "environment": "sandbox", "alert": "full"}
            status, answer = provider.call("POST", f"/v1/apps/{APP}/notifications", body, {"idempotency-key": key})
            if status == 202:
                campaigns.answered[key] = answer["id"]
            else:
                refused = status, answer
            time.sleep(0.1)
    if refused is None or refused[0] != 503 or set(registrar.refused) - {503}:
        fail(f"on a full disk a notification is answered {refused}, registrations {dict(registrar.refused)}")
    print(f"on a full disk: {refused[0]} {refused[1]}")
    if provider.process.poll() is not None or provider.call("GET", "/health")[0] != 200:
        fail("the provider has not survived a full disk")
    before = len(registrar.confirmed)
    os.remove(f"{folder}/filler")
    begin = time.monotonic()
    with registrar:
        while len(registrar.confirmed) == before and time.monotonic() - begin < 30:
            time.sleep(0.01)
    if len(registrar.confirmed) == before:
        fail("with space again, nothing is stored")
    seconds = time.monotonic() - begin
    rest = wait_until_done(provider)
    provider.stop()
    doubled = gateway.read()
    database = provider.database()
    prove_deliveries(database, gateway, campaigns)
    registrar.prove(database)
    check_rest(database)
    database.close()
    if sum(count > 1 for count in gateway.received.values()):
        fail("what was sent while the disk was full came twice")
    figure("disk_full_refusals", sum(registrar.refused.values()), "registrations answered 503, none stored wrongly")
    figure("disk_full_recovery", seconds, "s until something is stored again")
    figure("disk_full_rest", rest, f"s until all campaigns had ended, {doubled} pushes doubled")
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    provider.launch()
    status = provider.process.wait(timeout=30)
    text = provider.text().strip()
    if status == 0 or not text:
        fail(f"on a read-only disk it ends with {status} and says {text!r}")
    print(f"on a read-only disk: {text.splitlines()[-1][:300]}")
    figure("disk_read_only", status, "exit status, with the reason")
    subprocess.run(["umount", folder], check=True)


def fill(path):
    """Takes all space that is left."""
    with open(path, "wb", buffering=0) as file:
        for size in (65536, 4096):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["kills", "disk"])
    for name in ("--martlet", "--work"):
        parser.add_argument(name, required=True)
    for name in ("--admin-port", "--http2-port", "--kills", "--seed"):
        parser.add_argument(name, type=int, required=True)
    options = parser.parse_args()
    with open(f"{options.work}/tokens") as file:
        tokens = file.read().split()
    {"kills": kills, "disk": disk}[options.part](options, tokens, random.Random(options.seed))


main()
