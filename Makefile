# Everything runs from .venv. Nothing but Python 3.11 or newer and make is needed. `make demo` and `make install` put
# in what a league needs (scripts/demo.lock), all other targets everything that developers need (requirements.lock).

PYTHON ?= python3
WORKERS ?= auto
SOAK_TIMEOUT_S ?= 21600
MINUTES ?= 60
BOTS ?= 200
SEED ?= 1
# Modules are compiled once, and not by each of the hundreds of processes that tests start, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=
UV_VERSION := 0.13.8

# The environment to run in: BUILD=.compiled has the compiled engine, and another folder may be of another Python:
# make test PYTHON=python3.13 BUILD=.venv-3.13
BUILD ?= .venv
BIN := $(BUILD)/bin
TESTS ?=
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS)$(if $(TESTS), $(TESTS))
# A file of tests is for one process: what it makes once (a browser, a server, a league) is made once.
BY_FILE := --dist loadfile --no-loadscope-reorder
# A test that ends its process ends the run, and is named: xdist would begin it again in up to twenty others.
ENDING := --max-worker-restart 0
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

# Sizes as measured on 2026-11-28, Linux x86-64, Python 3.11; tests/test_install.py counts the packages.
DEMO_SIZE := "45 packages, 79 MB to fetch, 380 MB on disk"
WHOLE_SIZE := "all 124 packages of developers, 335 MB to fetch, 1.3 GB on disk"

.DEFAULT_GOAL := help
.PHONY: help demo install catalogue compiled languages test test-all soak chaos fuzz siege bench check stubs format lock screenshots wheel release-check clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

demo: $(BUILD)/ready ## sample bots play every game
	$(BIN)/cutpurse demo

install: $(BUILD)/ready ## cutpurse with its server and page, without what only developers need
	@echo "cutpurse is in $(BIN); this puts it on your path: . $(BIN)/activate"

compiled: .compiled/installed ## .compiled/, where the engine is C and twice as fast; needs a C compiler

languages: $(BUILD)/installed ## bots in every language that can be built here, on one ladder; LANGUAGES_FLAGS="--game greed" and others
	$(BIN)/python scripts/languages.py $(LANGUAGES_FLAGS)

test: $(BUILD)/installed ## the tests that take minutes: rules, secrecy, protocol, store, a few processes and a browser
	$(PYTEST) $(BY_FILE) $(ENDING) --quick

test-all: $(BUILD)/installed ## every test, in three quarters of an hour; what CI runs
	$(PYTEST) $(BY_FILE) $(ENDING)

soak: $(BUILD)/installed ## the tests and the long ones too
	$(PYTEST) --soak -o faulthandler_timeout=$(SOAK_TIMEOUT_S)

chaos: $(BUILD)/installed ## bots and connections hurt for an hour: MINUTES=60 BOTS=200 SEED=1
	$(BIN)/python -m tests.faults.chaos --minutes $(MINUTES) --bots $(BOTS) --seed $(SEED)

siege: $(BUILD)/installed ## hostile clients of every kind beside honest bots, for an hour: MINUTES=60 SEED=1
	$(BIN)/python -m tests.hostile.siege --minutes $(MINUTES) --seed $(SEED)

fuzz: $(BUILD)/installed ## hostile bytes for the server, for an hour: MINUTES=60 SEED=1
	$(BIN)/python -m tests.hostile.fuzz --minutes $(MINUTES) --seed $(SEED)

bench: $(BUILD)/installed ## what the engine and the arena do in a second, and readers wait for; BENCH_FLAGS="--only queries" and others
	$(if $(shell command -v $(CC)),-$(MAKE) compiled)
	$(BIN)/python benchmarks/bench.py $(BENCH_FLAGS)

check: $(BUILD)/installed ## lint, format, spelling, types, of the .proto files too
	$(BIN)/ruff check .
	$(BIN)/ruff check --quiet --preview --select DOC102,DOC202,DOC403 .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	scripts/proto_lint.sh
	PYTHON=$(PYTHON) scripts/stubs.sh --check

catalogue: $(BUILD)/installed ## the page's translations brought up to date; says how many messages each lacks
	$(BIN)/python -m scripts.catalogue

stubs: $(BUILD)/installed ## the Python of the .proto files, made anew
	PYTHON=$(PYTHON) scripts/stubs.sh

format: $(BUILD)/installed ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## resolve requirements.lock anew; LOCK_FLAGS=--upgrade takes newer versions
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(PYTHON) -m venv "$$folder" && \
	"$$folder/bin/python" -m pip --disable-pip-version-check -q install uv==$(UV_VERSION) && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock" --group dev --extra server --extra web --extra notify --extra sandbox --extra containers --extra openid --extra pictures --extra overall --extra rl --extra data --extra spiel --extra ray --extra llm --extra cluster --extra tune $(LOCK_FLAGS) pyproject.toml -o requirements.lock && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock" $(LOCK_FLAGS) proto/generator.in -o proto/generator.lock && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --custom-compile-command "make lock" -c requirements.lock --extra server --extra web pyproject.toml scripts/demo.in -o scripts/demo.lock && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --custom-compile-command "make lock" -c requirements.lock --extra server --extra web --extra notify --extra sandbox --extra containers --extra cluster --extra openid --extra pictures pyproject.toml -o docker/server.lock && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --custom-compile-command "make lock" -c requirements.lock --extra learn pyproject.toml -o docker/bot.lock && \
	"$$folder/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --custom-compile-command "make lock" -c requirements.lock docker/build.in -o docker/build.lock

screenshots: $(BUILD)/installed ## docs/pictures and docs/watch.svg anew, of matches that are played for them; needs chromium
	$(BIN)/python scripts/draw_picture.py
	$(BIN)/python scripts/screenshots.py

wheel: $(BUILD)/installed ## dist/cutpurse-*.whl
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

# The compiled wheel of this machine too, where there is a C compiler; release.yml builds those of other machines.
release-check: $(BUILD)/installed $(if $(shell command -v $(CC)),.compiled/installed) ## the files of a release, built and tried as users install them
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(if $(shell command -v $(CC)),cp .compiled/dist/*.whl dist)
	$(BIN)/python -m scripts.release_check dist

clean: ## away with everything made here
	rm -rf .venv .venv-* .compiled dist build .mypy_cache .ruff_cache .pytest_cache .benchmarks sample_bots/*/node_modules server/cutpurse/page/site/node_modules sample_bots/*/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

ifneq ($(BUILD),.compiled)
$(BUILD)/ready: scripts/demo.lock pyproject.toml scripts/install.sh
	@PYTHON=$(PYTHON) scripts/install.sh $(BUILD) scripts/demo.lock $(DEMO_SIZE)
	@touch $@

$(BUILD)/installed: requirements.lock pyproject.toml scripts/install.sh
	@PYTHON=$(PYTHON) scripts/install.sh $(BUILD) requirements.lock $(WHOLE_SIZE)
	$(PIP) check
	@touch $@ $(BUILD)/ready
endif

# An environment of its own: in .venv an edit of a module is there at once, here it is compiled anew.
.compiled/installed: requirements.lock scripts/install.sh pyproject.toml scripts/compiled.py \
    $(shell find proto games sdk sample_bots server leaderboard docs -name '*.py' -o -name '*.md')
	@command -v $(CC) > /dev/null || { echo "compiled: there is no C compiler $(CC); install one (Debian: gcc and python3-dev), or do without" >&2; exit 1; }
	@PYTHON=$(PYTHON) scripts/install.sh .compiled requirements.lock $(WHOLE_SIZE)
	.compiled/bin/python -m pip -q uninstall -y cutpurse  # else mypyc reads the types of the installed version
	rm -rf .compiled/dist
	CUTPURSE_COMPILED=1 .compiled/bin/python -m build --wheel --no-isolation --outdir .compiled/dist .
	.compiled/bin/python -m pip --disable-pip-version-check -q install --no-deps --force-reinstall .compiled/dist/*.whl
	@touch $@
