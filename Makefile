# What a newcomer, CI and a release all call. Each target sets up what it needs.
ARGS ?=
FILTER ?=

.PHONY: help demo build test check format setup clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: build  ## run gateway, provider and device in one process (ARGS=--exit ends after one notification)
	@.build/debug/martlet demo $(ARGS)

build: setup  ## build the martlet command
	@swift build --product martlet

test: setup  ## run all tests (FILTER=Name for some)
	@scripts/test $(FILTER)

check: setup  ## format, warnings as errors, documentation
	@scripts/check

format:  ## rewrite the sources in the house style
	@swift format --in-place --recursive --parallel Package.swift Sources Tests

setup:  ## install missing system packages, or say which ones are missing
	@scripts/setup

clean:  ## remove everything that was built
	@swift package clean
