# Everything starts from Python 3.11 or newer and make; what else is needed goes into .venv, once.

PYTHON ?= python3
ONLY ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
DEMO := release/demo
LOCK := requirements-dev.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test slow coverage lint shape benchmarks experiments docs lock clean
.DEFAULT_GOAL := help

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/compiled ## Protect the embedded hospital sample; print the verdict and the report's place.
	@mkdir -p $(dir $(DEMO))
	@$(BIN)/discreet demo --out $(DEMO)

test: lint ## Run the linters, the type checker, the layer check, the tests and doctests.
	$(BIN)/python -m pytest -n 2 --verbosity=0 -m "not slow"

slow: $(STAMPS)/test ## Run the other tests: documentation pages, examples, experiments, public data sets.
	$(BIN)/python -m pytest -n 2 --verbosity=0 -m slow tests

coverage: $(STAMPS)/test ## Run every test with the floor of coverage; takes half as long again as the tests alone.
	$(BIN)/python -m pytest -n 2 --verbosity=0 --cov --cov-report=term:skip-covered

lint: $(STAMPS)/test ## Run the linters, the type checker and the layer check only.
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

shape: $(STAMPS)/test ## Count lines, files, comments, names and imports of the package.
	@$(BIN)/python -m tests.shape

benchmarks: $(STAMPS)/test $(STAMPS)/peers ## Measure speed, memory and loss beside peers; ONLY=name runs one.
	$(BIN)/python benchmarks/run.py $(ONLY)

experiments: $(STAMPS)/run ## Regenerate the tables and figures of the papers.
	$(BIN)/python -m experiments $(ONLY)

docs: $(STAMPS)/docs ## Build the documentation into site/.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

lock: $(STAMPS)/test ## Pin the newest versions of what development needs, in requirements-dev.txt.
	$(PIP) uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
	  --no-header --no-annotate --quiet --output-file $(LOCK)

clean: ## Remove caches, the built site and the demo's release; .venv stays.
	rm -rf site build dist $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find src tests benchmarks examples -type d -name __pycache__ -prune -exec rm -rf {} +

# One stamp for each set of packages: installed again only when pyproject.toml or the lock file changes.

$(STAMPS)/run: pyproject.toml $(LOCK) $(STAMPS)/venv
	@echo "Installing discreet into $(VENV) ..."
	@$(PIP) -c $(LOCK) -e .
	@touch $@

# Kernels are compiled on their first use, which takes seconds: those of most runs are, before the first of them.

$(STAMPS)/compiled: $(STAMPS)/run
	@echo "Compiling for this machine ..."
	@$(BIN)/python -m discreet.publish.first_use
	@touch $@

$(STAMPS)/test $(STAMPS)/docs: pyproject.toml $(LOCK) $(STAMPS)/venv
	@echo "Installing discreet[$(@F)] into $(VENV) ..."
	@$(PIP) -c $(LOCK) -e '.[$(@F)]'
	@touch $@ $(STAMPS)/run

# Peers pin versions of their own, so they live in an environment of their own.

$(STAMPS)/peers: benchmarks/peers.txt $(STAMPS)/venv
	@echo "Installing the peers into $(VENV)/peers ..."
	@$(BIN)/python -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(STAMPS)/venv:
	@if ! $(BIN)/python -c 'import sys, pip; assert sys.version_info >= (3, 11)' 2>/dev/null; then \
	  command -v $(PYTHON) >/dev/null || { \
	    echo "discreet needs Python 3.11 or newer, and '$(PYTHON)' was not found. Try: make PYTHON=/path/to/python"; \
	    exit 1; }; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "discreet needs Python 3.11 or newer; '$(PYTHON)' is `$(PYTHON) -V 2>&1`. Try: make PYTHON=python3.12"; \
	    exit 1; }; \
	  $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv"; \
	    exit 1; }; \
	  echo "Making a virtual environment in $(VENV) ..."; \
	  $(PYTHON) -m venv --clear $(VENV); \
	fi
	@mkdir -p $(STAMPS) && touch $@
