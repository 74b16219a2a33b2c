# What a newcomer, CI and a release all call. Each target sets up what it needs.
ARGS ?=
FILTER ?=
SECONDS_EACH ?= 60
TARGET ?= all
# Sizes of the benchmarks; exported to the scripts, which have quick defaults.
export SUITE KEEP N PAIRS SENDS DEVICES INTAKE_DEVICES ONLY CONNECTIONS TRAFFIC_SECONDS GATEWAY_N KILLS STEPS REPLAY WORKERS OUT SEED MARTLET LOAD \
	SIZE IDLE_SECONDS ISSUE_KB LIMIT_MB READERS PATIENCE SINGLES CLIENTS \
	POWER_STATES POWER_STARTS CHURN_DEVICES HISTORY_OPERATIONS NETWORK_TROUBLES GATEWAY_KILLS SIGTERMS BACKUPS WEEKS_DAYS \
	LOADED TIMES WIDTH RUNS CONFIGURATION LIMIT

# `martlet --version` shows the commit; empty in a source tree without git.
export MARTLET_COMMIT := $(shell git rev-parse --short=9 HEAD 2>/dev/null)

.PHONY: help demo build build-times test test-postgres test-under-load check docs tour format setup clean bench-sender bench-gateway bench-campaign bench-publishing bench-bridge \
	bench-sessions conformance fuzz fuzz-api test-web alerts torture-gateway torture release package package-test image

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

demo: build  ## run gateway, provider and a phone in one process (ARGS=--exit ends after one notification; ARGS=--publisher)
	@.build/debug/martlet demo $(ARGS)

build: setup  ## build the martlet command
	@scripts/swift build --product martlet

build-times:  ## build from nothing in .build-times, and say where the time goes (CONFIGURATION=release LIMIT=300)
	@scripts/setup build-times
	@scripts/build-times

test: setup  ## run all tests (FILTER=Name for some)
	@scripts/test $(FILTER)

test-postgres: setup  ## run the tests of store and provider with PostgreSQL as well, in .build-postgres (FILTER=Name for some)
	@scripts/setup postgres
	@scripts/test-postgres $(FILTER)

test-under-load: setup  ## run all tests beside busy processes (LOAD=12 TIMES=1 FILTER=Name)
	@scripts/test-under-load $(FILTER)

check:  ## format, warnings as errors, examples, documentation (LOADED=1: and the tests beside busy processes)
	@scripts/setup check
	@scripts/check

docs: setup  ## build the libraries' documentation with DocC, in .build/docs
	@scripts/docs

tour:  ## execute the commands of docs/tour.md
	@scripts/setup tour
	@scripts/tour

format:  ## rewrite the sources in the house style
	@swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples Fuzz

bench-sender:  ## the sender beside h2load against nghttpd (N=200000 PAIRS=5 SENDS=1000000)
	@scripts/setup bench
	@scripts/bench-sender

bench-gateway:  ## the gateway beside nghttpd and mosquitto (N=20000 PAIRS=3 DEVICES=2000 ONLY=intake,idle,fanout,storm)
	@scripts/setup bench
	@scripts/bench-gateway

bench-campaign:  ## the provider beside the bare sender (N=100000 PAIRS=3 ONLY=plain,rendered,traffic,singles,gateway,hostile,postgres)
	@scripts/setup bench
	@case ",$${ONLY:-}," in *,postgres,*) scripts/setup postgres ;; esac
	@scripts/bench-campaign

bench-publishing:  ## readers of an issue under a bandwidth limit (N=2000 ISSUE_KB=100 LIMIT_MB=20 ONLY=readers,beside,gateway)
	@scripts/setup bench
	@scripts/bench-publishing

bench-bridge:  ## Matrix notifications through the provider to the gateway, beside h2load (N=20000 PAIRS=3 DEVICES=500 CLIENTS="1 16")
	@scripts/setup bench
	@scripts/bench-bridge

bench-sessions:  ## idle sessions at chat servers (N=2000 IDLE_SECONDS=240 ONLY=irc,xmpp,bare)
	@scripts/setup bench
	@scripts/bench-sessions

conformance:  ## sender, provider and devices against other people's servers and proxies
	@scripts/setup conformance
	@scripts/conformance

fuzz:  ## fuzz every parser, or one of them (SECONDS_EACH=60 TARGET=HTTP2; RUNS=2000 SEED=1 for a quick check)
	@scripts/setup
	@scripts/fuzz $(TARGET) $(SECONDS_EACH)

fuzz-api:  ## histories of the REST API, made of its OpenAPI document and judged by a model (STEPS=3000 SEED=1 REPLAY=FILE)
	@scripts/setup fuzz-api
	@scripts/fuzz-api

test-web:  ## the dashboard in a real Chromium (ONLY=pages,roles SIZE=1000000 MARTLET=a release)
	@scripts/setup web
	@scripts/test-web

alerts:  ## the alert rules and the board, with promtool and a Prometheus against a running provider
	@scripts/setup alerts
	@scripts/alerts

torture-gateway:  ## a running gateway against half-open connections (CONNECTIONS=10000) and floods
	@scripts/setup bench
	@scripts/torture-gateway

# ONLY=kills,disk,power,time,churn,apps,stops,history,network,sigterm,backup,weeks,receipts,notify,log; NODES=3 adds nodes; sizes: Benchmarks/README.md
torture:  ## the provider's promises under kills, power loss, wrong clocks, churn … (ONLY=power,churn KILLS=10 SEED=1)
	@scripts/setup bench
	@[ "$${NODES:-1}" -le 1 ] || scripts/setup postgres
	@scripts/torture

release:  ## the program for other machines, in .build/dist: optimized, stripped, with the Swift runtime inside
	@scripts/setup release
	@scripts/release

package:  ## a Debian package of the release, in .build/dist, examined by lintian
	@scripts/setup package
	@scripts/package

package-test:  ## install, use, upgrade, remove and purge the package in a Debian of its own (as root; SUITE=bookworm KEEP=1)
	@scripts/setup package-test
	@scripts/package-test

image:  ## a container image of the same files, started with packaging/compose.yml (as root)
	@scripts/setup image
	@scripts/image

setup:  ## install missing system packages, or say which ones are missing
	@scripts/setup

clean:  ## remove everything that was built
	@scripts/swift package clean
