"""Files of devices that are imported again and again, each time in a new version."""

import hashlib
import json
import time

from basics import APP, fail
from worker import Worker

FILES, LINES, BATCH = 20, 2500, 1000


class DeviceFile:
    """One file: most devices keep their token in the next version, some installations have a new one. Some lines have
    a token in capitals that was there before, some are to be refused."""

    def __init__(self, number, seed):
        self.number, self.seed, self.version, self.is_csv = number, seed, 0, number % 2 == 1
        self.user = f"file-{number}"
        # What is stored: the version and token of each device.
        self.stored = {}

    def token(self, device, version):
        text = f"{self.seed} {self.number} {device} {version if device % 10 == 0 else ''}"
        return hashlib.sha256(text.encode()).hexdigest()

    def lines(self):
        """Each line's device and token; None for the device of a line that is to be refused."""
        for line in range(LINES):
            if line % 50 == 7:
                yield None, "not a token"
            elif line % 50 == 9:
                yield line - 1, self.token(line - 1, self.version).upper()
            else:
                yield line, self.token(line, self.version)

    def content(self):
        texts = ["token,user,installation,tags,attributes.version\n"] if self.is_csv else []
        for line, (device, token) in enumerate(self.lines()):
            installation = f"{self.user}-{device}" if device is not None and device % 10 == 0 else None
            if self.is_csv:
                texts.append(f"{token},{self.user},{installation or ''},imported|{self.user},{self.version}\n")
            else:
                record = {"token": token, "user": self.user, "tags": ["imported", self.user],
                          "attributes": {"version": self.version}}
                texts.append(json.dumps({**record, "installation": installation} if installation else record) + "\n")
        return "".join(texts).encode()

    def registrations(self):
        return [(device, token.lower()) for device, token in self.lines() if device is not None]

    def after(self, count):
        """What is stored once so many registrations are."""
        stored = dict(self.stored)
        for device, token in self.registrations()[:count]:
            stored[device] = self.version, token
        return stored

    def found(self, database):
        """What is stored indeed, in order."""
        return sorted(database.execute(
            "SELECT json_extract(attributes, '$.version'), lower(hex(token)) FROM device"
            " WHERE user = ? AND environment = 0", (self.user,)).fetchall())


class Importer(Worker):
    def __init__(self, provider, rng):
        self.provider, self.rng = provider, rng
        self.files = [DeviceFile(number, rng.random()) for number in range(FILES)]
        self.current = None
        self.answered, self.interrupted, self.partly = 0, 0, 0

    def turn(self):
        """A new version of a file, or once more the one that was cut off."""
        if self.current is None:
            self.current = self.rng.choice(self.files)
            self.current.version += 1
        self.take(self.current, self.send(self.current))

    def send(self, file, pause=0.04):
        """The answer; None if it was cut off."""
        content = file.content()

        def pieces():
            for start in range(0, len(content), 25_000):
                yield content[start:start + 25_000]
                time.sleep(self.rng.uniform(0, pause))

        headers = {"content-type": "text/csv" if file.is_csv else "application/x-ndjson"}
        if self.rng.random() < 0.5:
            headers["content-length"] = str(len(content))
        status, answer = self.provider.call("POST", f"/v1/apps/{APP}/devices:import", pieces(), headers)
        if status not in (200, None):
            fail(f"an import was refused: {status} {answer}")
        return answer

    def take(self, file, answer):
        if answer is None:
            self.interrupted += 1
            return
        registrations = file.registrations()
        new = {device for device, _ in registrations} - set(file.stored)
        figures = [answer[name] for name in ("lines", "added", "refused")]
        if figures != [LINES, len(new), LINES - len(registrations)] or len(registrations) != sum(
                answer[name] for name in ("added", "refreshed", "replaced")):
            fail(f"an import of {LINES} lines, {len(new)} of them new, is answered {answer}")
        file.stored = file.after(len(registrations))
        self.current = None
        self.answered += 1

    def look(self, database):
        """To be called after each kill: of what was cut off, so many whole transactions are stored and nothing else."""
        file = self.current
        if file is None:
            return
        found, total = file.found(database), len(file.registrations())
        for count in [*range(0, total, BATCH), total]:
            stored = file.after(count)
            if sorted(stored.values()) == found:
                self.partly += 0 < count < total
                file.stored = stored
                return
        fail(f"an import of {file.user} was cut off, and what is stored is no beginning of it")

    def end(self):
        """Once more, undisturbed: what was cut off to its end, and then nothing changes any more."""
        if self.current is not None:
            self.take(self.current, must_answer(self.send(self.current, pause=0)))
        for file in self.files:
            if file.version == 0:
                continue
            answer = must_answer(self.send(file, pause=0))
            if answer["added"] or answer["replaced"]:
                fail(f"the same file again is answered {answer}")
            self.take(file, answer)

    def prove(self, database):
        """All files are stored as their last answer has it, and nothing besides. How many devices."""
        for file in self.files:
            if file.found(database) != sorted(file.stored.values()):
                fail(f"{file.user} is not stored as it was answered")
        count = sum(len(file.stored) for file in self.files)
        for question in (
                "SELECT count(*) FROM device WHERE user LIKE 'file-%'",
                "SELECT count(*) FROM deviceTag WHERE tag = 'imported'",
                "SELECT count(*) FROM deviceTag WHERE tag LIKE 'file-%'",
                "SELECT count(*) FROM deviceAttribute JOIN device ON id = device WHERE name = 'version'"
                " AND value = json_extract(attributes, '$.version')"):
            found = database.execute(question).fetchone()[0]
            if found != count:
                fail(f"{count} devices were imported, and {question} is {found}")
        return count


def must_answer(answer):
    if answer is None:
        fail("an import has no answer, and nobody was killed")
    return answer
