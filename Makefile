# Every target sets up what it needs: a virtual environment in .venv, made anew when pyproject.toml changes.
# Needed beforehand: make, and a Python of 3.11 or later. PYTHON=/path/to/python chooses one.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$p" && break; done)
EXAMPLE := examples/temperature.json
BIN := .venv/bin
PIP_INSTALL := python -m pip install --quiet --no-input --disable-pip-version-check

# The environment's own packages are what runs, whatever the caller's shell has set.
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help demo test test-pure test-networks test-browser lint types generated native unit wheel build fmt determinism mutants fuzz bench masks replies budgets clean
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/ready ## assemble a real conversation for Qwen3 and show it in colours by origin
	@$(BIN)/katapi assemble qwen3 $(EXAMPLE) --color

test: lint types generated unit wheel ## everything that must hold: linter, types, generated code, tests, wheel

# The same tests where compiled code ran before. Without a C compiler `make test` has run them in this form already.
test-pure: .venv/ready ## pytest with the engines in pure Python, whether extensions are built or not
	KATAPI_ENGINE=pure $(BIN)/pytest --numprocesses=auto --dist=worksteal $(ARGS)

# pip takes the build of torch that its index has: for Linux on x86-64 that can be the one for CUDA, of several GB. Where
# the build for the CPU is at hand, PIP_FIND_LINKS or pip's own configuration tells pip, which prefers it.
test-networks: .venv-networks/ready ## padded and packed batches through real networks of transformers, on the CPU
	.venv-networks/bin/pytest tests/networks $(ARGS)

# Chromium comes from CHROMIUM=/path/to/it, or is installed already, or is installed by apt-get where that may be used.
test-browser: .venv-browser/ready ## the page of `katapi inspect` in Chromium, without a window
	@chromium=$$(tools/chromium.sh) && CHROMIUM="$$chromium" .venv-browser/bin/pytest tests/browser $(ARGS)

lint: .venv/ready ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready ## mypy --strict on everything
	$(BIN)/mypy

generated: .venv/ready ## whether writing generated code, specs or lists anew would change them
	$(BIN)/katapi build --check
	$(BIN)/katapi fmt --check
	$(BIN)/python tools/module_list.py --check

# Exit status 3: nothing can be compiled here, which it says. Katapi then runs as pure Python.
native: .venv/ready ## compile the engines beside their sources, where there is a C compiler
	@$(BIN)/python tools/native.py || test $$? -eq 3

unit: native ## pytest alone, on all cores; ARGS= is passed on
	$(BIN)/pytest --numprocesses=auto --dist=worksteal $(ARGS)

# By way of the source distribution. KATAPI_BUILD=pure or =compiled says which wheel; both forms of a compiled one run.
wheel: .venv/ready ## build the wheel, install it alone in a clean environment and run it and the vectors there
	@rm -rf build/dist .venv-wheel && mkdir -p build/dist
	@$(BIN)/python -m build --no-isolation --outdir build/dist . > build/dist/log 2>&1 || { cat build/dist/log; exit 1; }
	@grep '^katapi: ' build/dist/log || true
	@$(PYTHON) -m venv .venv-wheel
	@.venv-wheel/bin/$(PIP_INSTALL) build/dist/*.whl
	.venv-wheel/bin/python -I tools/wheel_smoke.py tests/vectors/chat/qwen3.jsonl.gz
	KATAPI_ENGINE=pure .venv-wheel/bin/python -I tools/wheel_smoke.py tests/vectors/chat/qwen3.jsonl.gz
	@.venv-wheel/bin/$(PIP_INSTALL) "$$(echo build/dist/*.whl)[vectors]"
	.venv-wheel/bin/pytest --override-ini pythonpath=. --quiet tests/vectors/test_chat_models.py

build: .venv/ready ## write generated/ anew from spec/
	$(BIN)/katapi build

fmt: .venv/ready ## bring Python and .kata files into their canonical form
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/katapi fmt
	$(BIN)/python tools/module_list.py

determinism: .venv/ready ## build under other hash seeds, locales, time zones, folders and Pythons; compare bytes
	$(BIN)/python tools/determinism.py

mutants: .venv/ready ## plant faults in generated code and count those that the oracle finds
	$(BIN)/python tools/mutants.py $(ARGS)

fuzz: .venv/ready ## the property tests with many more examples, on all cores: hours
	$(BIN)/pytest --hypothesis-profile=fuzz -m hypothesis --numprocesses=auto --dist=worksteal --verbose --durations=10 $(ARGS)

# The extensions lie beside the sources, where the editable install finds them; what they import has to be there too.
bench: native .venv-bench/peers ## speed beside all peers: writes docs/benchmarks.md, in an hour; ARGS=--quick in minutes
	@$(BIN)/python tools/native.py --needs | .venv-bench/bin/$(PIP_INSTALL) --requirement /dev/stdin
	nice .venv-bench/bin/python -m tools.benchmarks $(ARGS)

masks: .venv-bench/ready ## loss masks beside transformers on TRL's templates: writes docs/masks.md, in some minutes
	.venv-bench/bin/$(PIP_INSTALL) --no-deps --requirement tools/official_templates/requirements.txt
	.venv-bench/bin/python tools/mask_comparison.py $(ARGS)

replies: .venv-bench/ready ## reading replies and going on behind them beside renderers: writes docs/replies.md, in some minutes
	.venv-bench/bin/python tools/reply_comparison.py $(ARGS)

budgets: .venv/ready ## filling budgets beside assembling everything: writes a section of docs/budget.md, in some minutes
	$(BIN)/python tools/budget_bench.py $(ARGS)

clean: ## remove environments, caches and what was built
	rm -rf .venv .venv-* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f codegen/katapi/native.json
	find codegen generated \( -name '*.so' -o -name '*.pyd' \) -delete
	find codegen generated tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/ready: pyproject.toml
	@$(call make-environment,.venv,cli$(comma)compiler$(comma)dev)

.venv-bench/ready: pyproject.toml
	@$(call make-environment,.venv-bench,bench)

# One by one: a peer that cannot be had on a machine is named in the tables.
.venv-bench/peers: .venv-bench/ready tools/benchmarks/peers.txt
	@grep -v '^#' tools/benchmarks/peers.txt | while read -r peer; do \
		.venv-bench/bin/$(PIP_INSTALL) $$peer || echo "katapi: $$peer cannot be installed here; it is left out" >&2; done
	@touch $@

.venv-networks/ready: pyproject.toml
	@$(call make-environment,.venv-networks,networks)

.venv-browser/ready: pyproject.toml
	@$(call make-environment,.venv-browser,browser)

comma := ,

# $(1): folder, $(2): extras of this project to install beside it, in editable form
define make-environment
test -n "$(PYTHON)" || { echo "katapi: no Python of 3.11 or later found; set PYTHON=/path/to/python" >&2; exit 1; }
echo "katapi: installing $(2) into $(1) with $(PYTHON)"
rm -rf $(1)
$(PYTHON) -m venv $(1)
$(1)/bin/$(PIP_INSTALL) --editable '.[$(2)]'
touch $@
endef
