"""Libraries that stand between a program and the system; compiled when they are needed."""

import mmap
import os
import shutil
import struct
import subprocess
import time

from basics import fail

FOLDER = os.path.dirname(os.path.abspath(__file__))


def build(name, work):
    """The path of the library made of NAME.c."""
    compiler = next(filter(None, map(shutil.which, ["cc", "gcc", "clang"])), None)
    if compiler is None:
        fail("no C compiler: scripts/setup bench installs one")
    path = f"{work}/{name}.so"
    result = subprocess.run(
        [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path, f"{FOLDER}/{name}.c", "-ldl"],
        capture_output=True, text=True)
    if result.returncode:
        fail(f"{name}.c cannot be compiled:\n{result.stderr}")
    return path


class Control:
    """Numbers that the library reads at every call."""

    def __init__(self, path, form):
        self.path, self.form = path, form
        with open(path, "wb") as file:
            file.write(bytes(4096))
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)

    def set(self, *numbers):
        struct.pack_into(self.form, self.page, 0, *numbers)

    @property
    def numbers(self):
        return struct.unpack_from(self.form, self.page)


class Recorder:
    """What a program changes below a folder, and what of it fails."""

    def __init__(self, work, folder, log):
        self.log, self.control = log, Control(f"{log}.control", "<iii")
        self.variables = {"LD_PRELOAD": build("recorder", work), "RECORDER_FOLDER": folder, "RECORDER_LOG": log,
                          "RECORDER_CONTROL": self.control.path}

    def let_fail(self, error, syncs=0, writes=0):
        """So many of the next calls fail with this errno."""
        self.control.set(syncs, writes, error)

    @property
    def is_pending(self):
        """Whether something has still to fail."""
        syncs, writes, _ = self.control.numbers
        return syncs > 0 or writes > 0


class Clock:
    """The clocks of a program."""

    def __init__(self, work):
        self.control, self.wall, self.steady = Control(f"{work}/clock.control", "<qq"), 0, 0
        self.variables = {"LD_PRELOAD": build("clock", work), "CLOCK_CONTROL": self.control.path}

    def set(self):
        self.control.set(int((self.wall + self.steady) * 1e9), int(self.steady * 1e9))

    def step_to(self, seconds):
        """The wall clock is so far ahead from now on; below zero behind."""
        self.wall = seconds
        self.set()

    def let_pass(self, seconds):
        """So much time passes at once, by all clocks."""
        self.steady += seconds
        self.set()

    @property
    def now(self):
        """What the wall clock shows."""
        return time.time() + self.wall + self.steady


def make_certificate(work, clock):
    """One that is valid a year ago and in a year: made by a program whose clock is a year behind."""
    clock.step_to(-365 * 86_400)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "900",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", f"{work}/server.key", "-out", f"{work}/server.pem"],
        check=True, capture_output=True, env={**os.environ, **clock.variables})
    clock.step_to(0)
