PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo demo-redis test collected lint scenarios faults s11 bench compiled wheel bench-compiled bench-gate conformance clients clients-once examples clean

help:  ## show this
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 22

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "OnceGate needs Python 3.11 or newer: call make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || { echo "setting up $(VENV) (once)"; $(PYTHON) -m venv $(VENV) || { echo "the venv module is missing: on Debian, apt-get install python3-venv"; exit 2; }; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[gateway,postgres,dbos]' --group dev
	@touch $@

demo: $(STAMP)  ## the refund incident, without and with OnceGate, then an agent (under a minute)
	@$(BIN)/oncegate demo

demo-redis: $(STAMP)  ## two gateways on one Redis, one killed in the middle of it (under a minute)
	@$(BIN)/oncegate demo --redis

test: $(STAMP)  ## all tests
	@$(BIN)/python -m pytest -n 4

# Four workers that start on a clean tree would each rewrite the asserts of every file: four times eleven seconds of CPU.
collected: $(STAMP)  ## no test, but what `make test` would first prepare in each of its processes
	@$(BIN)/python -m pytest --collect-only -qq

lint: $(STAMP)  ## ruff, mypy --strict, import contracts, layout, a sentence for every test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy && $(BIN)/mypy tests bench compiling
	@$(BIN)/lint-imports
	@$(BIN)/python .ci/check_layout.py
	@$(BIN)/interrogate --quiet tests

scenarios: $(STAMP)  ## S1-S12: how many refunds does one intention cause?
	@$(BIN)/python -m bench.scenarios

faults: $(STAMP)  ## the fault matrix with real processes (SEED=, ONLY=F10,F17, RUNS=); a good ten minutes
	@$(BIN)/python -m bench.faults $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) $(if $(RUNS),--runs $(RUNS))

s11: $(STAMP)  ## agents killed in every window and delivered twice: 1 refund each (a few minutes)
	@$(BIN)/python -m bench.s11

bench: $(STAMP)  ## CPU per call, as ratios to the barest proxy
	@$(BIN)/python -m bench

compiled: $(STAMP)  ## this tree again under build/compiled, what a call passes through in machine code (needs gcc; two minutes)
	@$(BIN)/python -m compiling

wheel: $(STAMP)  ## that tree as a wheel in dist/, for this Python on machines like this one
	@$(BIN)/python -m compiling --wheel dist

bench-compiled: compiled  ## the benchmark in that tree
	@cd build/compiled && $(abspath $(BIN))/python -m bench

# The stores are in memory where there is enough of it: the gate is about CPU.
GATE ?= read,read-one-span,write,write-redis,replay,refusal,growth-write
bench-gate: compiled  ## its gate in that tree: the targets at 64 connections, times 1.4 (GATE=CASE,...; two minutes)
	@room=$$(test -w /dev/shm && df -Pk /dev/shm | awk 'NR == 2 { print $$4 }'); \
	if [ "$${room:-0}" -gt 2000000 ]; then export TMPDIR=/dev/shm; fi; \
	cd build/compiled && $(abspath $(BIN))/python -m bench --gate --only $(GATE)

conformance: $(STAMP)  ## the official MCP conformance suite, from npm, on a Node from PyPI
	@$(BIN)/python -m bench.conformance

clients: $(STAMP)  ## effects per MCP client, straight at a server and through the gateway
	@$(BIN)/python -m bench.clients $(if $(ONLY),--only $(ONLY))

clients-once: $(STAMP)  ## one row for each client, but for those that are large to install: S9 through the gateway
	@$(BIN)/python -m bench.clients --scenario S9 --gateway-only --not-large --patience 3

examples: $(STAMP)  ## every examples/refund_*.py in its own environment, with a provider that loses its answers
	@$(BIN)/python -m bench.examples $(if $(ONLY),--only $(ONLY))

clean:  ## remove what the other targets made
	@rm -rf $(VENV) build dist *.egg-info
