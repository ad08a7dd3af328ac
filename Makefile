# Everything a contributor runs. Each target works in a fresh clone that has only Python and make,
# and installs what it needs. `make` alone lists them.

SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin

# The interpreter is the one at hand, never a downloaded one.
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME
# The tests start hundreds of processes, each of which would compile all that it imports anew: that
# was a third of their time where the environment (an image of Python's often does) forbids caches.
unexport PYTHONDONTWRITEBYTECODE

# What the system trusts, uv and npm trust too: behind a company's proxy that is what it takes.
CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
ifneq ($(CERTIFICATES),)
export UV_SYSTEM_CERTS ?= true
export NODE_EXTRA_CA_CERTS ?= $(CERTIFICATES)
endif

# uv from the PATH, or else a private one. Exact, hash-checked versions either way.
UV := $(shell command -v uv 2>/dev/null || echo .cache/uv-venv/bin/uv)
UV_READY := $(if $(filter .cache/%,$(UV)),.cache/uv-venv/ready)

SYNCED := .venv/.synced
READY := .venv/.ready
NPM_READY := tests/npm/node_modules/.ready
SUITE_READY := tests/npm/suite/node_modules/.ready
RUN_READY := .cache/demo/.ready
TRAINING_READY := .cache/training-venv/.ready
OLDEST_READY := .cache/oldest-venv/.ready
EVAL_READY := .cache/eval-venv/.ready
SBOM_READY := .cache/sbom-venv/.ready
EXTRAS_READY := .cache/extras-venv/.ready
SYSTEM_READY := .cache/system-packages

# `make lock UPGRADE=--upgrade` takes newer versions; without it only what must change does.
UPGRADE ?=
COMPILE = $(UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --custom-compile-command "make lock"
AGENTS := --extra pydantic-ai --extra openai-agents --extra langchain
DEV := --group dev --extra fast --extra fastmcp --extra postgres --extra cel --extra metrics --extra otel --extra patch --extra verify $(AGENTS)

# The agents' frameworks are tried in their newest releases with all else, and in the oldest that the
# extras allow in a world of their own.
OLDEST = .cache/oldest-venv/bin/python -m pytest -m "not proof" tests/agents/frameworks \
	-o cache_dir=.cache/oldest-venv/cache

# tests/tiers.py says what a test needs, and which profiles of Hypothesis there are.
# Importing the agents' frameworks takes longer than their tests.
QUICK := -m "smoke or not (browser or npm or postgres or process or proof)" --hypothesis-profile quick \
	--ignore tests/agents/frameworks --ignore tests/examples
ORDINARY := -m "not proof" --hypothesis-profile ordinary
LONG := -m "proof or hypothesis" --hypothesis-profile long
# Tests of one file stay together, since they share what is costly to start; tests/conftest.py says
# in which order the files come. The tests wait more than they compute, so there are more processes
# than cores.
SHARED := --dist loadfile --no-loadscope-reorder
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test check static covered bench proof train eval screenshots site dist sbom release format schema metadata lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## build .venv and fetch all that the tests use
	@sh tools/system_packages.sh
	@mkdir -p .cache && touch $(SYSTEM_READY)
	@$(MAKE) --silent $(READY) $(OLDEST_READY) $(NPM_READY)
	@echo "ready: make run, make test, make check"

run: $(RUN_READY) ## start the demo behind the gateway; ARGS="--port 0" takes a free port
	@.cache/demo/bin/sayso demo $(ARGS)

test: $(READY) ## run the quick tests, which need no other program; a few minutes
	$(BIN)/pytest $(QUICK) -n 5 $(SHARED) $(PYTEST_ARGS)

check: $(READY) $(NPM_READY) $(SYSTEM_READY) ## run what CI runs: format, lint, types, floors, all tests but the proofs, coverage
	@$(MAKE) --no-print-directory --jobs 2 static covered

# The checks compute while the tests wait.
static: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo --no-cache

covered: $(READY) $(NPM_READY) $(SYSTEM_READY)
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(ORDINARY) -n 5 $(SHARED) $(PYTEST_ARGS)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	@$(BIN)/coverage json --quiet -o .cache/coverage.json
	$(BIN)/python tools/coverage_floors.py .cache/coverage.json

# The gateway's part takes four minutes like this, and a quarter of an hour as it is by default.
bench: $(READY) ## measure start, decisions, the guard, servers, searches, selection, inference, the linter, the verifier, log, gateway, checks, fairness and console; fails when a target is missed
	@$(BIN)/python bench/start.py
	@$(BIN)/python bench/policy.py
	@$(BIN)/python bench/guard.py
	@$(BIN)/python bench/audit.py
	@$(BIN)/python bench/starts.py
	@$(BIN)/python bench/waiting.py
	@$(BIN)/python bench/listing.py
	@$(BIN)/python bench/serve.py
	@$(BIN)/python bench/search.py
	@$(BIN)/python bench/selection.py
	@test -z "$$SAYSO_RETRIEVAL" || $(BIN)/python bench/retrieval.py
	@$(BIN)/python bench/infer.py
	@$(BIN)/python bench/lint.py
	@$(BIN)/python bench/verify.py
	@$(BIN)/python bench/gateway.py --rounds 3 --seconds 0.5 --soak 20000
	@$(BIN)/python bench/validation.py
	@$(BIN)/python bench/fairness.py
	@$(BIN)/python bench/console.py

proof: $(READY) $(NPM_READY) $(SUITE_READY) $(SYSTEM_READY) $(OLDEST_READY) ## run the long proofs: chaos, conformance, properties, oldest releases
	$(BIN)/pytest $(LONG) $(PYTEST_ARGS)
	$(OLDEST)

train: $(READY) $(TRAINING_READY) ## fit the inference of hints anew and say how it does; SAYSO_CORPUS names the corpus
	@OMP_NUM_THREADS=1 PYTHONPATH=src .cache/training-venv/bin/python training/train.py $(ARGS)

eval: $(READY) $(EVAL_READY) $(NPM_READY) ## replay agents, some of them hijacked, behind several gates; ARGS="--write" renews eval/RESULTS.md
	@PYTHONPATH=src .cache/eval-venv/bin/python -m eval $(ARGS)

screenshots: $(READY) ## take pictures of every page of the console, to look at
	@$(BIN)/python -m tests.console.screenshots

site: $(READY) ## build the documentation site into build/site; warnings are errors
	@$(BIN)/python -m tools.site

dist: $(READY) ## build wheel and sdist of the last commit into dist/; ARGS=--check builds twice and compares
	@$(BIN)/python tools/build_dist.py $(ARGS)

# The environment holds sayso with all its extras and nothing else.
sbom: $(READY) $(SBOM_READY) $(EXTRAS_READY) ## write dist/sayso.cdx.json (CycloneDX) and dist/licenses.txt; fails on a licence that needs a look
	@mkdir -p dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .cache/sbom-venv/bin/cyclonedx-py environment \
		--pyproject pyproject.toml --mc-type application --output-reproducible \
		--output-file .cache/sayso.cdx.json .cache/extras-venv/bin/python
	@$(BIN)/python tools/licenses.py .cache/sayso.cdx.json dist/sayso.cdx.json \
		.cache/extras-venv/lib/python*/site-packages > dist/licenses.txt

release: $(READY) ## say what stands in the way of a release; ARGS=v0.1.0 names its tag
	@PYTHONPATH=.:src $(BIN)/python tools/release_check.py $(ARGS)

format: $(READY) ## rewrite the code as ruff would have it
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

schema: $(READY) ## write docs/policy.schema.json anew
	@$(BIN)/sayso policy schema > docs/policy.schema.json

metadata: $(READY) ## write README's install commands and server.json anew
	@PYTHONPATH=src $(BIN)/python tools/write_metadata.py

# All requirements are solved as one, then each file takes its part of that solution: what is
# already written in an output file is what uv prefers.
lock: $(UV_READY) ## rewrite requirements/*.txt (UPGRADE=--upgrade for newer versions)
	@mkdir -p .cache
	@cp requirements/dev.txt .cache/all.txt
	@$(COMPILE) $(UPGRADE) --group dev --all-extras --output-file .cache/all.txt
	@cp .cache/all.txt requirements/dev.txt
	@cp .cache/all.txt requirements/eval.txt
	@$(COMPILE) $(DEV) --output-file requirements/dev.txt
	@cp .cache/all.txt requirements/run.txt
	@$(COMPILE) --group run --extra fast --output-file requirements/run.txt
	@$(COMPILE) --group eval --output-file requirements/eval.txt
	@rm -f requirements/oldest.txt
	@$(COMPILE) --resolution lowest-direct --group oldest $(AGENTS) \
		--output-file requirements/oldest.txt
	@$(subst compile pyproject.toml,compile --group uv,$(COMPILE)) $(UPGRADE) \
		--output-file requirements/uv.txt
	@cat .cache/all.txt >> requirements/training.txt
	@$(COMPILE) $(UPGRADE) --group training --output-file requirements/training.txt
	@cp .cache/all.txt requirements/extras.txt
	@$(COMPILE) --all-extras --output-file requirements/extras.txt
	@$(subst compile pyproject.toml,compile --group sbom,$(COMPILE)) $(UPGRADE) \
		--output-file requirements/sbom.txt

clean: ## remove everything that make has built
	rm -rf .venv .cache .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache \
		.import_linter_cache build dist tests/npm/node_modules
	find src tests bench tools eval examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(SYSTEM_READY): tools/system_packages.sh
	@sh tools/system_packages.sh
	@mkdir -p .cache && touch $@

.cache/uv-venv/ready: requirements/uv.txt
	@sh tools/system_packages.sh venv
	@sh tools/check_python.sh $(PYTHON) venv
	@echo "uv is not on the PATH: a private one goes into .cache/uv-venv"
	@$(PYTHON) -m venv --clear .cache/uv-venv
	@.cache/uv-venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements/uv.txt
	@touch $@

$(SYNCED): requirements/dev.txt $(UV_READY)
	@sh tools/check_python.sh $(PYTHON)
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) .venv
	@$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt
	@touch $@

# After the sync, which removes what is not in its file. The build backend is in .venv already.
$(READY): $(SYNCED) pyproject.toml
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# What a user installs, and nothing of what the tests need.
$(RUN_READY): requirements/run.txt pyproject.toml $(UV_READY)
	@sh tools/check_python.sh $(PYTHON)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/demo
	@$(UV) pip sync --quiet --python .cache/demo/bin/python --require-hashes requirements/run.txt
	@$(UV) pip install --quiet --python .cache/demo/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

$(OLDEST_READY): requirements/oldest.txt $(READY)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/oldest-venv
	@$(UV) pip sync --quiet --python .cache/oldest-venv/bin/python --require-hashes requirements/oldest.txt
	@$(UV) pip install --quiet --python .cache/oldest-venv/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

$(TRAINING_READY): requirements/training.txt $(UV_READY)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/training-venv
	@$(UV) pip sync --quiet --python .cache/training-venv/bin/python --require-hashes requirements/training.txt
	@touch $@

$(EVAL_READY): requirements/eval.txt $(UV_READY)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/eval-venv
	@$(UV) pip sync --quiet --python .cache/eval-venv/bin/python --require-hashes requirements/eval.txt
	@touch $@

$(SBOM_READY): requirements/sbom.txt $(UV_READY)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/sbom-venv
	@$(UV) pip sync --quiet --python .cache/sbom-venv/bin/python --require-hashes requirements/sbom.txt
	@touch $@

$(EXTRAS_READY): requirements/extras.txt $(UV_READY)
	@$(UV) venv --quiet --python $(PYTHON) --clear .cache/extras-venv
	@$(UV) pip sync --quiet --python .cache/extras-venv/bin/python --require-hashes requirements/extras.txt
	@touch $@

$(NPM_READY) $(SUITE_READY): %/node_modules/.ready: %/package.json | $(SYSTEM_READY)
	@if command -v npm >/dev/null 2>&1; then \
		npm install --loglevel error --no-package-lock --no-audit --no-fund \
			--fetch-timeout 60000 --fetch-retries 2 --prefix $* && touch $@; \
	else \
		echo "npm is missing: tests with servers from npm are skipped"; \
	fi
