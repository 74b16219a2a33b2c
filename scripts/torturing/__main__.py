"""Torments a provider for scripts/torture: kills it at random moments, or takes its disk away, and proves what is left."""

import argparse
import random
import sys

from basics import Failure
from disk import disk
from kills import kills

parser = argparse.ArgumentParser()
parser.add_argument("part", choices=["kills", "disk"])
for name in ("--martlet", "--work"):
    parser.add_argument(name, required=True)
for name in ("--admin-port", "--http2-port", "--kills", "--seed"):
    parser.add_argument(name, type=int, required=True)
options = parser.parse_args()
with open(f"{options.work}/tokens") as file:
    tokens = file.read().split()
try:
    {"kills": kills, "disk": disk}[options.part](options, tokens, random.Random(options.seed))
except Failure as failure:
    print(f"torture: {failure}", file=sys.stderr)
    sys.exit(1)
