"""The part that takes the disk away: full, then read-only."""

import os
import subprocess
import time
import uuid

from basics import APP, fail, figure
from campaigns import Campaigns
from gateway import Gateway
from proof import prove_deliveries, prove_rest
from provider import Provider
from window import CrashWindow
from worker import Registrar


def disk(options, tokens, rng):
    folder = f"{options.work}/disk"
    os.makedirs(folder)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], check=True)
    provider, gateway = Provider(options, f"{folder}/data"), Gateway(options.admin_port)
    gateway.read()
    gateway.forget()
    provider.start()
    provider.set_up(tokens)
    campaigns, registrar = Campaigns(provider, tokens, rng, kinds=["campaign", "paced"]), Registrar(provider)
    with registrar:
        campaigns.drive(time.monotonic() + 1)
        fill(f"{folder}/filler")
        refused = send_for_a_while(provider, campaigns)
    if refused is None or refused[0] != 503 or set(registrar.refused) - {503}:
        fail(f"on a full disk a notification is answered {refused}, registrations {dict(registrar.refused)}")
    print(f"on a full disk: {refused[0]} {refused[1]}")
    if provider.process.poll() is not None or provider.call("GET", "/health")[0] != 200:
        fail("the provider has not survived a full disk")
    os.remove(f"{folder}/filler")
    recovery = recover(registrar)
    rest = provider.wait_until_done()
    provider.stop()
    doubled = gateway.read()
    database = provider.database()
    prove_deliveries(database, gateway, CrashWindow())
    campaigns.prove(database, gateway)
    registrar.prove(database)
    prove_rest(provider, database)
    database.close()
    if gateway.again:
        fail("what was sent while the disk was full came twice")
    figure("disk_full_refusals", sum(registrar.refused.values()), "registrations answered 503, none stored wrongly")
    figure("disk_full_recovery", recovery, "s until something is stored again")
    figure("disk_full_rest", rest, f"s until all campaigns had ended, {doubled} pushes doubled")
    read_only(provider, folder)
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


def send_for_a_while(provider, campaigns):
    """The last answer that was no 202."""
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
    return refused


def recover(registrar):
    """Seconds until something is stored again."""
    before, begin = len(registrar.confirmed), time.monotonic()
    with registrar:
        while len(registrar.confirmed) == before and time.monotonic() - begin < 30:
            time.sleep(0.01)
    if len(registrar.confirmed) == before:
        fail("with space again, nothing is stored")
    return time.monotonic() - begin


def read_only(provider, folder):
    """A start says why not."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    provider.launch()
    status = provider.process.wait(timeout=30)
    text = provider.text().strip()
    if status == 0 or not text:
        fail(f"on a read-only disk it ends with {status} and says {text!r}")
    print(f"on a read-only disk: {text.splitlines()[-1][:300]}")
    figure("disk_read_only", status, "exit status, with the reason")
