"""What a disk may hold after a power failure, from a record of everything that was written and synchronized."""

import collections
import os
import struct

HEAD = struct.Struct("<ciiqqi")
SECTOR = 512

Operation = collections.namedtuple("Operation", "kind error file offset moment content")


def read_log(path):
    """The operations in their order. The last one may be cut off."""
    with open(path, "rb") as file:
        data = file.read()
    operations, at = [], 0
    while at + HEAD.size <= len(data):
        kind, error, file, offset, moment, length = HEAD.unpack_from(data, at)
        at += HEAD.size
        if at + length > len(data):
            break
        operations.append(Operation(kind.decode(), error, file, offset, moment, data[at:at + length]))
        at += length
    return operations


class File:
    """Its content as it is on the disk for certain, and what was done since, in order: (offset, bytes) or a length."""

    def __init__(self):
        self.durable, self.pending = bytearray(), []

    def settle(self, changes):
        for change in changes:
            apply(self.durable, change)
        self.pending = []


def apply(content, change):
    if isinstance(change, int):
        del content[change:]
        content.extend(bytes(change - len(content)))
        return
    offset, data = change
    content.extend(bytes(max(0, offset - len(content))))
    content[offset:offset + len(data)] = data


def torn(changes, rng):
    """Of each write only some sectors have arrived."""
    for change in changes:
        if isinstance(change, int):
            if rng.random() < 0.5:
                yield change
            continue
        offset, data = change
        start = 0
        while start < len(data):
            end = min(len(data), (offset + start) // SECTOR * SECTOR + SECTOR - offset)
            if rng.random() < 0.5:
                yield offset + start, data[start:end]
            start = end


WAYS = {
    "lost": lambda changes, rng: [],
    "kept": lambda changes, rng: changes,
    "cut": lambda changes, rng: changes[:rng.randint(0, len(changes))],
    "reordered": lambda changes, rng: [change for change in changes if rng.random() < 0.5],
    "torn": lambda changes, rng: list(torn(changes, rng)),
}


class Disk:
    """Follows the operations; `state` says what may be there if the power fails now."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        # By path: as the program sees it, and as it is on the disk for certain. Steps between, in order.
        self.names, self.durable_names, self.steps = {}, {}, []
        # By descriptor: a file, or a path of a folder.
        self.open = {}

    def take(self, operation):
        {"o": self.opened, "c": self.opened, "x": self.closed, "w": self.written, "t": self.truncated, "s": self.synced,
         "r": self.renamed, "l": self.renamed, "u": self.unlinked}[operation.kind](operation)

    def opened(self, operation):
        path = operation.content.decode()
        if operation.kind == "c":
            self.step(path, File())
        elif path not in self.names:
            self.open[operation.file] = path
            return
        self.open[operation.file] = self.names[path]
        if operation.offset:
            self.names[path].pending.append(0)

    def step(self, path, file):
        """The name stands for this file from now on; None for nothing."""
        self.steps.append((path, file))
        self.names.pop(path, None)
        if file is not None:
            self.names[path] = file

    def closed(self, operation):
        self.open.pop(operation.file, None)

    def file(self, operation):
        file = self.open.get(operation.file)
        return file if isinstance(file, File) else None

    def written(self, operation):
        if file := self.file(operation):
            file.pending.append((operation.offset, operation.content))

    def truncated(self, operation):
        if file := self.file(operation):
            file.pending.append(operation.offset)

    def synced(self, operation):
        entry = self.open.get(operation.file)
        if isinstance(entry, File):
            # After a failure the system may believe that what it could not write is clean: then it never comes.
            changes = WAYS["reordered"](entry.pending, self.rng) if operation.error else entry.pending
            entry.settle(changes)
        elif entry is not None and not operation.error:
            rest = []
            for path, file in self.steps:
                if os.path.dirname(path) == entry:
                    self.durable_names[path] = file
                else:
                    rest.append((path, file))
            self.steps = rest

    def renamed(self, operation):
        first, second = operation.content.decode().split("\0")
        if first in self.names:
            file = self.names[first]
            self.step(second, file)
            if operation.kind == "r":
                self.step(first, None)

    def unlinked(self, operation):
        self.step(operation.content.decode(), None)

    def state(self, way):
        """Name → content, and how much was at stake: pending changes. Names are lost from some step on, as a file system
        with a journal does it, at the same time as data is."""
        names = dict(self.durable_names)
        steps = self.steps
        if way == "lost":
            steps = []
        elif way != "kept":
            steps = steps[:self.rng.randint(0, len(steps))]
        names.update(steps)
        contents, stake = {}, len(self.steps)
        for path, file in names.items():
            if file is not None:
                content = bytearray(file.durable)
                stake += len(file.pending)
                for change in WAYS[way](file.pending, self.rng):
                    apply(content, change)
                contents[os.path.relpath(path, self.folder)] = bytes(content)
        return contents, stake
