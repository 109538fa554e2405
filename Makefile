.DEFAULT_GOAL := help
.PHONY: help install run test check build format lint sanitize manual guide attack conformance topology fault injection mutate bench-http bench-log bench-index bench-nearby bench-nodes bench-observing bench-overload bench-rebuild bench-search

SWIFT_FILES = Package.swift Sources Tests Benchmarks

## help          say what there is to make
help:
	@sed -n 's/^## /make /p' $(MAKEFILE_LIST)

## install       install missing packages: the headers of libpq, jemalloc, libdeflate and zstd, and PostgreSQL (Debian packages)
install:
	@scripts/install

## run           install what is missing, build, and serve the API on a private PostgreSQL
run: install
	swift build --configuration release --product humon
	@exec .build/release/humon serve

## test          install what is missing, build, and run all tests; then a short fault injection, which needs the machine for itself
test: install
	swift build --build-tests
	swift test --skip-build --skip FaultInjectionTests
	swift test --skip-build --filter FaultInjectionTests

## manual        the man page and the completions of bash, zsh and fish: .build/manual
manual: build
	swift package generate-manual --configuration release
	mkdir -p .build/manual
	cp .build/plugins/GenerateManual/outputs/humon/humon.1 .build/manual/humon.1
	.build/release/humon --generate-completion-script bash > .build/manual/humon.bash
	.build/release/humon --generate-completion-script zsh > .build/manual/_humon
	.build/release/humon --generate-completion-script fish > .build/manual/humon.fish

## docs-examples  run the commands of docs/operating.md and write what they answered into it
docs-examples: build
	scripts/docs-examples .build/release/humon >docs/operating.md.new
	mv docs/operating.md.new docs/operating.md

## fuzz          let Schemathesis loose on every operation of the API (needs PyPI once); FUZZ="--seed 7 --seconds 600" and the like
fuzz: build
	@scripts/install python3-venv
	python3 scripts/fuzz $(FUZZ)

## conformance   hold the HTTP server against curl, h11, h2, nghttp2 and wrk (needs PyPI once); CONFORMANCE="--short" and the like
conformance: build
	@scripts/install python3-venv curl openssl nghttp2-client wrk
	python3 scripts/conformance $(CONFORMANCE)

## fault-injection  the long one, five to ten minutes: FAULT_INJECTION_FAULTS faults (150) of the seed FAULT_INJECTION_SEED (by chance)
fault-injection: build
	swift build --build-tests
	FAULT_INJECTION_SERVER=$(CURDIR)/.build/release/humon FAULT_INJECTION_FAULTS=$${FAULT_INJECTION_FAULTS:-150} \
		swift test --skip-build --filter '^FaultInjectionTests.*nothing acknowledged'

## mutate        break the code in many small ways and say which no test notices; MUTATE="--seed 7 --count 100 Encoding" and the like
mutate:
	python3 scripts/mutate $(MUTATE)

## deployment-test  start what docs/deploying.md says without Docker, break it, and say what was proved; DEPLOYMENT="--short" and the like
deployment-test: build
	python3 scripts/deployment $(DEPLOYMENT)

## check         the whole gate: format, all tests (imports and architecture among them), thread sanitizer, release build
check: install lint test sanitize build

## build         the release binary: .build/release/humon
build: install
	swift build --configuration release --product humon

## format        put the sources into the project's format
format:
	swift format --in-place --recursive $(SWIFT_FILES)

## lint          hold the sources against the project's format
lint:
	swift format lint --strict --recursive $(SWIFT_FILES)

## sanitize      run all tests of the modules below App under the thread sanitizer, in a build folder of its own
sanitize: install
	swift test --sanitize thread --scratch-path .build-sanitize \
		--filter '^(Encoding|Telemetry|Postgres|EventStore|Users|Events|Attendances|HTTP)Tests\.'

## bench-http    measure the API from outside on a million events, from the index and without, beside a bare Hummingbird (needs wrk)
bench-http: build
	swift build --configuration release --product BareServer
	Benchmarks/http.sh

## bench-log     measure the log beside pgbench and COPY, on one PostgreSQL (needs pgbench)
bench-log: install
	swift build --configuration release --product LogBenchmark
	.build/release/LogBenchmark

## bench-index  measure searches in the index of a node by itself, beside a writer and without
bench-index: install
	swift build --configuration release --product IndexBenchmark
	.build/release/IndexBenchmark

## bench-nearby  measure the candidates for the index of nearby search beside each other
bench-nearby: install
	Benchmarks/nearby-index.sh

## bench-nodes   measure two servers: how soon one shows what the other recorded, reads beside writes, a soak (needs wrk, Python 3)
bench-nodes: build
	Benchmarks/nodes.py

## bench-observing measure what metrics, the log of requests and traces cost a read (needs wrk)
bench-observing: build
	Benchmarks/observing.sh

## bench-overload measure what is left of a server that is asked for four times what it can do (needs wrk, Python 3)
bench-overload: build
	Benchmarks/overload.py

## bench-rebuild measure the rebuild and verification of a million recorded events beside plain SQL (needs psql)
bench-rebuild: build
	Benchmarks/rebuild.sh

## bench-search  measure what the index of searches in the log costs an append (needs psql)
bench-search: build
	Benchmarks/search-index.sh
