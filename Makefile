# One verb a task; `make help` lists them. Each verb sets up what it needs.

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE  := src $(wildcard tests tools examples)

# Spark starts its workers with the first python3 on PATH unless told otherwise.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
# Progress is shown as it is made, also through a pipe.
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: check-code check-doctests test-one test-two help venv java postgres demo test test-plain test-long check format bench study soak golden docs lock clean

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(STAMP) ## create .venv with the locked packages and Headgate itself

$(STAMP): requirements.lock pyproject.toml tools/setup-venv.sh
	@tools/setup-venv.sh $(VENV)
	@touch $@

java: ## check for Java 17 or newer; install it when root on Debian
	@tools/setup-java.sh

postgres: ## check for a PostgreSQL server, for tests; install it when root on Debian
	@tools/setup-postgres.sh

demo: venv java ## a join under a budget, on Spark; the first time it compiles for minutes
	@$(BIN)/headgate demo

test: check java postgres ## check, then the usual round of tests
	@echo "== tests, in two processes side by side"
	@claims=$$(mktemp -d) && trap 'rm -rf "$$claims"' EXIT && HEADGATE_CLAIMS="$$claims" \
		$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-one test-two

# Both run every test the other has not taken: one from those without Spark on, the other from those
# on Spark, until they meet (tests/sharing_out.py). Without HEADGATE_CLAIMS each runs them all.
# The kernel is compiled once, by the doctests of `check`, and found on disk by both.
test-one: venv java postgres
	@$(BIN)/pytest -o cache_dir=.pytest_cache/one

test-two: venv java postgres
	@HEADGATE_TESTS_FROM=end $(BIN)/pytest -o cache_dir=.pytest_cache/two

UNCOMPILED := $(addprefix tests/checks/,test_every_policy.py test_residence.py test_observing.py)

test-plain: venv ## the kernel as plain Python, without compilation, against its twin
	@NUMBA_DISABLE_JIT=1 $(BIN)/pytest -m "not slow and not long and not spark" $(UNCOMPILED)

test-long: venv java postgres ## every night: all policies and studies, ten times the inputs, drawn anew
	@HEADGATE_TESTS=long $(BIN)/pytest -m "not slow"

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

check-doctests: venv
	@echo "== doctests"
	@$(BIN)/pytest -q --doctest-modules src/headgate

format: venv ## format the code and mend what ruff can
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

bench: venv java ## measure throughput and memory
	@$(BIN)/headgate bench

study: venv ## reproduce the papers' experiments, all of them in full
	@$(BIN)/headgate reproduce

soak: venv java ## run long streams and watch the budget; restarts that take minutes
	@$(BIN)/pytest -m slow tests

golden: venv ## accept changed results: write the files that tests compare them with
	@HEADGATE_CALIBRATION=not-calibrated.json $(BIN)/python -m tests.golden.results
	@git --no-pager diff --stat -- tests/golden

docs: venv ## write the page of metrics from their declarations
	@$(BIN)/python -m headgate.metrics.metrics_page > docs/metrics.md

lock: venv ## pin every dependency again, keeping the versions that still fit
	@echo "Resolving requirements.lock"
	@$(BIN)/uv pip compile pyproject.toml --all-extras --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
		--quiet --output-file requirements.lock > /dev/null

clean: ## remove .venv, caches and what runs leave behind
	rm -rf $(VENV) build dist out reproduced spark-warehouse metastore_db derby.log
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src $(wildcard tests) -name __pycache__ -type d -prune -exec rm -rf {} +
