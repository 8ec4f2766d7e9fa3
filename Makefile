# make help lists the targets. Nothing here needs more than Rust, a C compiler, git, make and
# bash; the benchmarks and the wheel also need Python 3.

CARGO ?= cargo
PYTHON ?= python3

.DEFAULT_GOAL := build
.PHONY: build install uninstall demo test torture fuzz fuzz-smoke sanitize lint dist wheel docs bench bench-smoke instructions clean help

build: ## build the release binary, target/release/hedgerow (DYNAMIC=1: with shared libraries)
	@bash scripts/build.sh

install: build ## install below PREFIX=/usr/local (DESTDIR=, LINKS="names"|all, FORCE=1, DEBUG=1)
	@bash scripts/install.sh install

uninstall: ## remove what make install installed (PREFIX= DESTDIR=)
	@bash scripts/install.sh uninstall

demo: ## what hedgerow is for, beside git, in 90 seconds after the build (REPO=path DIR=path)
	@REPO="$(REPO)" DIR="$(DIR)" bash scripts/demo.sh

test: ## install what the tests need (as root), run them all, count what was skipped
	@bash scripts/test.sh

torture: ## every failing call, kill and power cut there is, instead of a sample (SEED=n): an hour
	@. scripts/toolchain.sh && HEDGEROW_TORTURE=all HEDGEROW_TORTURE_SEED=$(or $(SEED),1) \
		$(CARGO) test --locked -p hedgerow-cli --test torture -- --nocapture

sanitize: ## the crates with unsafe code under AddressSanitizer (needs a nightly compiler)
	@bash scripts/sanitize.sh

fuzz: ## all fuzz targets from their kept corpus (SECONDS=n for each, TARGETS="a b")
	@bash scripts/fuzz.sh $(or $(SECONDS),20) $(TARGETS)

fuzz-smoke: ## each fuzz target for 3 s from its kept corpus, always with the same seed
	@FUZZ_PROFILE=smoke FUZZ_SEED=1 bash scripts/fuzz.sh 3

dist: ## static binaries, archives, packages, SBOM and checksums, in target/artefacts (TARGETS=)
	@bash scripts/dist.sh

wheel: ## the Python package, in target/wheels (PYTHON=python3.14t; installs maturin)
	@PYTHON="$(PYTHON)" bash scripts/wheel.sh

docs: ## generated pages, checked links, and the site in target/site (installs mdbook)
	@bash scripts/docs.sh

lint: ## formatting and clippy; a warning is an error
	@bash scripts/lint.sh

bench: ## every number of the README (CASE=name PAIRS=n LINUX= K8S= DEEP= LATENCYFS=)
	@. scripts/toolchain.sh && $(PYTHON) bench/run.py $(if $(CASE),--case $(CASE)) $(if $(PAIRS),--pairs $(PAIRS))

# Nobody looks at the figures: what the tests need anyway is enough.
bench-smoke: export BENCH_BUILD = tests
bench-smoke: ## the benchmarks once, on small made-up inputs: do they still run?
	@. scripts/toolchain.sh && $(PYTHON) bench/run.py --smoke && $(PYTHON) bench/simulate.py --smoke && $(PYTHON) bench/growth.py --smoke

instructions: ## instructions of the hottest paths, against those recorded (needs valgrind; RECORD=1 SINCE=commit)
	@. scripts/toolchain.sh && $(PYTHON) bench/instructions.py $(if $(RECORD),--record) $(if $(SINCE),--since $(SINCE))

clean: ## remove everything that was built or measured here
	rm -rf target bench/out

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
