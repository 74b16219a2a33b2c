"""A gateway that is killed and started again, and devices that have tokens from it."""

import atexit
import json
import subprocess
import time

from basics import call, fail, must


class GatewayProcess:
    def __init__(self, options):
        self.options, self.folder, self.log_path = options, f"{options.work}/own-gateway", f"{options.work}/own-gateway.log"
        self.authority = f"{self.folder}/authority.pem"

    def start(self):
        self.log = open(self.log_path, "wb+")
        self.process = subprocess.Popen(
            [self.options.martlet, "gateway", "--data-directory", self.folder, "--environment", "sandbox", "--port", "0",
             "--log-format", "json"], stdout=self.log, stderr=self.log)
        atexit.register(self.process.kill)
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log_path, errors="replace") as file:
                lines = [line for line in file if '"gateway is open"' in line and line.endswith("\n")]
            if lines:
                self.admin_port = port_of(json.loads(lines[0])["metadata"]["admin"])
                doors = self.sandbox()["doors"]
                self.http2_port, self.courier_port = port_of(doors["http2"]), port_of(doors["courier"])
                return
            time.sleep(0.02)
        fail(f"the gateway does not open, see {self.log_path}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def activate(self, count):
        """The tokens of so many devices, which are offline from then on."""
        work = self.options.work
        subprocess.run(
            [self.options.load, "activate", "--file", f"{work}/own-devices.json", "--devices", str(count),
             "--courier-port", str(self.courier_port), "--pid", str(self.process.pid),
             "--admin-port", str(self.admin_port), "--key", f"{work}/key.p8",
             "--provider-token", f"{work}/own-jwt", "--addresses", f"{work}/own-paths"], check=True)
        with open(f"{work}/own-paths") as file:
            return [line.strip().rpartition("/")[2] for line in file]

    def sandbox(self):
        """What the gateway says of its environment."""
        return must(call(self.admin_port, "GET", "/v1/status"), "the gateway's status")["environments"][0]

    def stored(self):
        """Notifications that wait for their device."""
        return self.sandbox()["stored"]


def port_of(address):
    return int(address.rpartition(":")[2])
