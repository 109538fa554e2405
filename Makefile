.DEFAULT_GOAL := help
.PHONY: help install run build dist test format lint sanitize check docs bench verify

SWIFT_FILES = Package.swift Libraries Sources HumonClient Tests Benchmarks checks

# Start

## help      print this list; the default
help:
	@awk '/^# [A-Z]/ { print (shown++ ? "\n" : "") substr($$0, 3) } /^## / { print "  make " substr($$0, 4) }' $(MAKEFILE_LIST)

## install   install the missing Debian packages, headers and PostgreSQL, and fetch what the map page contains
install:
	@scripts/install

## run       install, build a release binary, and serve the API on a private PostgreSQL cluster
run: build
	@exec .build/release/humon serve

## build     install, and build the release binary .build/release/humon with its man page
build: install
	scripts/release humon
	@scripts/manual .build/release/humon .build/release

## dist      build, and make the files of a release in dist; KEY=file signs them
dist: install
	@scripts/install dpkg-dev libicu72 lintian minisign xz-utils
	@KEY='$(KEY)' scripts/dist

# Change

## test      install, build, run the tests lane by lane, then six faults under load; NAME=regex runs the tests that match
test: install
	@scripts/install chromium fonts-dejavu-core
	@scripts/third-party axe
	@scripts/third-party postgres
	swift build --build-tests
	@scripts/test '$(NAME)'
	@test -n '$(NAME)' || .build/debug/FaultInjection

## format    rewrite the sources in the project's format
format:
	swift format --in-place --recursive $(SWIFT_FILES)

## lint      check the project's format, the rules about texts, and the scripts that check and test, without a build
lint:
	swift format lint --strict --recursive $(SWIFT_FILES)
	@scripts/lint
	@python3 -B scripts/lint_tests.py --quiet
	@python3 -B scripts/test_tests.py --quiet

## sanitize  run the tests of the targets below App under the thread sanitizer
# jemalloc brings an operator new of its own, which the sanitizer does not see; the one of libstdc++ must come first.
sanitize: install
	LD_PRELOAD=$$(/sbin/ldconfig -p | awk '/libstdc\+\+\.so\.6 / { print $$NF; exit }') swift test --sanitize thread --scratch-path .build-sanitize \
		--filter '^(Encoding|Telemetry|Postgres|EventStore|Users|Events|SpatialIndex|Attendances|Accounts|Tasks|HTTPServer|HTTP)Tests\.'

## check     the whole gate: lint, test, sanitize, build
check: install lint test sanitize build

# Prove and measure; without NAME each of these lists its names

## docs      rewrite the generated documents: NAME=openapi|capacity|chart|promises|screenshots
docs:
	@scripts/docs $(NAME)

## verify    run one of the long checks: NAME=benchmarks|calendars|clients|conformance|deployment|extending|faults|fuzz|mutations|units|upgrade|words, ARGUMENTS="--short"
verify:
	@scripts/verify $(NAME) $(ARGUMENTS)

## bench     run one of the benchmarks: NAME=http|index|log|nodes|observing|overload|page|peers|rebuild|scale|signins|streams|tails|writes, ARGUMENTS="5 2"
bench:
	@scripts/bench $(NAME) $(ARGUMENTS)
