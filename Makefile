# One verb a task; `make help` lists them. Each verb sets up what it needs.

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
# All packages but PySpark, which takes longest to install: enough to build the kernel.
FIRST := $(VENV)/.installed-first
ENOUGH := $(if $(wildcard $(STAMP)),$(STAMP),$(FIRST))
# Links for every Linux, and for other kinds of machines; too large for everybody's .venv.
ZIG   := ziglang==0.17.0
# Checks what PyPI would show; brings thirty packages that nothing else needs.
TWINE := twine==7.0.0
CODE  := src $(wildcard tests tools examples docs)

# Spark starts its workers with the first python3 on PATH unless told otherwise.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
# Progress is shown as it is made, also through a pipe.
export PYTHONUNBUFFERED := 1
# Modules are compiled once, not by every worker and every process of a test.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: check-code check-doctests library servers help venv kernel wheel dist java postgres browser promtool demo test test-plain test-jit test-long test-matrix check format bench study soak test-slow faults simulate fuzz kill mutants golden golden-checkpoints docs docs-site docs-serve docs-links lock clean

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(STAMP) ## create .venv with the locked packages and Headgate itself

$(FIRST): requirements.lock pyproject.toml tools/setup-venv.sh
	@tools/setup-venv.sh $(VENV)
	@touch $@

$(STAMP): requirements.lock pyproject.toml tools/setup-venv.sh
	@$(MAKE) --no-print-directory $(FIRST)
	@tools/setup-venv.sh $(VENV) pyspark
	@tools/compile-modules.sh $(VENV)
	@touch $@

kernel: venv ## build the library of machine code, if its sources have changed
	@$(BIN)/python -m headgate.building --if-needed

# The same while PySpark is being installed.
library: $(ENOUGH)
	@$(BIN)/python -m headgate.building --if-needed

java: ## check for Java 17 or newer; install it when root on Debian
	@tools/setup-java.sh

browser: ## check for a browser, for tests of the live page; install it when root on Debian
	@tools/setup-browser.sh

promtool: venv ## check for promtool, for the test of alert rules; unpack it on Debian
	@tools/setup-promtool.sh $(VENV)

postgres: ## check for a PostgreSQL server, for tests; install it when root on Debian
	@tools/setup-postgres.sh

demo: kernel java ## a join under a budget, on Spark
	@$(BIN)/headgate demo

test: $(ENOUGH) ## check, then the usual round of tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target library check-code servers
	@echo "== tests and doctests, in two processes side by side"
	@$(BIN)/pytest --numprocesses=2 --dist=worksteal --doctest-modules tests src/headgate

# One after the other: all may install packages.
servers: venv
	@$(MAKE) --no-print-directory --jobs=1 java postgres browser promtool

UNCOMPILED := $(addprefix tests/checks/,test_every_policy.py test_residence.py test_observing.py)

test-jit: venv ## the kernel as Numba compiles it here, against its twin
	@HEADGATE_KERNEL=jit $(BIN)/pytest -m "not slow and not long and not spark" tests/checks

test-plain: kernel ## the kernel as plain Python, without compilation, against its twin
	@HEADGATE_KERNEL=python $(BIN)/pytest -m "not slow and not long and not spark" $(UNCOMPILED)

test-long: kernel java postgres browser promtool ## every night: all policies and studies, ten times the inputs, drawn anew
	@HEADGATE_TESTS=long $(BIN)/pytest -m "not slow"

test-matrix: kernel java ## the Spark tests on each version of Spark; VERSION=4.1, ON=python3.13, ALL=1
	@$(BIN)/python tools/test_matrix.py $(if $(VERSION),--version $(VERSION)) $(if $(ON),--python $(ON)) $(if $(ALL),--all)

check: venv ## lint, format, types, import layers, doctests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-code check-doctests

check-code: venv
	@echo "== ruff"
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== import layers"
	@$(BIN)/lint-imports

check-doctests: kernel
	@echo "== doctests"
	@$(BIN)/pytest -q --doctest-modules src/headgate

format: venv ## format the code and mend what ruff can
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

bench: kernel java ## measure throughput and memory
	@$(BIN)/headgate bench

study: venv ## reproduce the papers' experiments, all of them in full
	@$(BIN)/headgate reproduce

test-slow: kernel java ## tests that take minutes: long streams, clusters, large joins, restarts
	@$(BIN)/pytest -m slow tests

ARRIVALS ?= 1e9
ON_SPARK ?= 1e8
soak: kernel java ## long streams at a hundredth of the memory, and curves; ARRIVALS=1e9 in process, ON_SPARK=1e8, SOAK_MINUTES=60 each at most
	@$(BIN)/python -m tests.soak --arrivals $(ARRIVALS) --on-spark $(ON_SPARK) $(if $(SOAK_MINUTES),--minutes $(SOAK_MINUTES)) $(if $(PUBLISH),--out $(CAMPAIGNS))
	@$(if $(PUBLISH),$(BIN)/python -m tests.campaigns)

SEEDS   ?= 0:100
MINUTES ?= 5
CAMPAIGNS := tests/campaigns.json

PROCESSES ?= 1
simulate: kernel ## simulate a cluster with faults; SEEDS=0:100 are workloads, of 48 schedules each; PROCESSES=2
	@$(BIN)/python -m tests.simulation $(SEEDS) --processes $(PROCESSES) $(if $(PUBLISH),--out $(CAMPAIGNS))
	@$(if $(PUBLISH),$(BIN)/python -m tests.campaigns)

FIRST ?= 0
fuzz: kernel ## generated joins against twin, DuckDB and themselves; MINUTES=5, FIRST=0 is the first seed; PROCESSES=2, ON_SPARK=1
	@$(BIN)/python -m tests.fuzzing $(if $(ON_SPARK),--on-spark) --minutes $(MINUTES) --first $(FIRST) --processes $(PROCESSES) $(if $(PUBLISH),--out $(CAMPAIGNS))
	@$(if $(PUBLISH),$(BIN)/python -m tests.campaigns)

ROUNDS ?= 10
kill: kernel java ## kill real queries at random moments, compare their rows; ROUNDS=10, FIRST=0
	@$(BIN)/python -m tests.kills --rounds $(ROUNDS) --first $(FIRST) $(if $(PUBLISH),--out $(CAMPAIGNS))
	@$(if $(PUBLISH),$(BIN)/python -m tests.campaigns)

mutants: kernel ## faults put into the code one by one: simulation or fuzzing alone must find each
	@$(BIN)/python tools/seed_mutants.py $(if $(PUBLISH),--publish)
	@$(if $(PUBLISH),$(BIN)/python -m tests.campaigns)

faults: kernel java ## seed faults into a copy of the code, one by one: each must be found by a test
	@$(BIN)/python tools/seed_faults.py

golden: venv ## accept changed results: write the files that tests compare them with
	@HEADGATE_CALIBRATION=not-calibrated.json $(BIN)/python -m tests.golden.results
	@git --no-pager diff --stat -- tests/golden

golden-checkpoints: kernel java ## write checkpoints of the present state format, to be taken up for ever
	@HEADGATE_CALIBRATION=not-calibrated.json $(BIN)/python -m tests.golden.checkpoint_cases

SITE := $(BIN)/sphinx-build -q -W --keep-going -j auto -d docs/_build/trees
DOCS_PORT ?= 8000

docs: kernel java browser ## the site in docs/_build/html, with all that it shows made anew
	@$(BIN)/python -m headgate.metrics.metrics_page > docs/reference/metrics.md
	@$(BIN)/python tools/cli_page.py > docs/reference/cli.md
	@$(BIN)/python tools/docs_images.py
	@$(BIN)/python tools/page_images.py
	@$(BIN)/python tools/gallery_pages.py
	@$(BIN)/python tools/measured.py
	@$(BIN)/python tools/run_notebooks.py
	@[ ! -d reproduced ] || $(BIN)/python tools/paper_pages.py reproduced
	@$(MAKE) --no-print-directory docs-site

docs-site: venv ## the site alone, from what is there: seconds
	@$(SITE) -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs-serve: docs-site ## the site on http://localhost:8000; DOCS_PORT=8080 for another port
	@$(BIN)/python -m http.server --bind localhost --directory docs/_build/html $(DOCS_PORT)

docs-links: venv ## ask the servers of all links that lead elsewhere
	@$(SITE) -b linkcheck docs docs/_build/links

MACHINE ?= $(shell uname -m)

wheel: venv ## pack a wheel with the library of machine code; MACHINE=aarch64 for another kind
	@$(BIN)/python -m ziglang version >/dev/null 2>&1 || $(BIN)/python -m pip install -qq $(ZIG)
	@$(BIN)/python -m headgate.building --portable --machine $(MACHINE)
	@HEADGATE_WHEEL_MACHINE=$(MACHINE) $(BIN)/python -m pip wheel -qq --no-deps \
		--no-build-isolation --wheel-dir dist .
	@ls dist/*$(MACHINE).whl

dist: venv java ## wheel and sdist, checked, and the wheel tried in an empty environment
	@rm -rf dist
	@$(MAKE) --no-print-directory wheel
	@$(BIN)/hatchling build -t sdist -d dist
	@$(BIN)/uv tool run --python $(BIN)/python $(TWINE) check --strict dist/*
	@$(BIN)/python tools/try_wheel.py dist/*$(MACHINE).whl --spark

lock: venv ## pin every dependency again, keeping the versions that still fit
	@echo "Resolving requirements.lock"
	@$(BIN)/uv pip compile pyproject.toml --all-extras --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
		--quiet --output-file requirements.lock > /dev/null

clean: ## remove .venv, caches and what runs leave behind
	rm -rf $(VENV) .matrix build dist out reproduced spark-warehouse metastore_db derby.log
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src $(wildcard tests) -name __pycache__ -type d -prune -exec rm -rf {} +
