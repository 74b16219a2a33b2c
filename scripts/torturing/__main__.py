"""Torments a provider for scripts/torture, one part at a time, and proves what is left."""

import argparse
import importlib
import random
import sys

from basics import Failure

# Each is a function of its name, in the file of that name unless it is said here. These send to a gateway, all others to a
# push service of their own.
WITH_GATEWAY = ["kills", "disk"]
ALONE = ["selftest", "churn", "power", "time", "apps", "stops", "history", "network", "sigterm", "backup", "weeks", "receipts",
         "notify", "log", "nodes"]
NAMES = {"time": "clocks"}

parser = argparse.ArgumentParser()
parser.add_argument("part", choices=WITH_GATEWAY + ALONE)
parser.add_argument("--load")
parser.add_argument("--postgres")
for name in ("--martlet", "--work"):
    parser.add_argument(name, required=True)
for name in ("--admin-port", "--http2-port", "--kills", "--nodes"):
    parser.add_argument(name, type=int, default=0)
parser.add_argument("--seed", type=int, required=True)
options = parser.parse_args()
arguments = [options]
if options.part in WITH_GATEWAY:
    with open(f"{options.work}/tokens") as file:
        arguments.append(file.read().split())
name = NAMES.get(options.part, options.part)
run = getattr(importlib.import_module(name), name)
try:
    run(*arguments, random.Random(options.seed))
except Failure as failure:
    print(f"torture: {options.part}: {failure}", file=sys.stderr, flush=True)
    sys.exit(1)
