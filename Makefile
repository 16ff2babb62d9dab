# Everything a developer, a stranger or the CI runs. Paths are relative and quoted: the project may lie in a folder with spaces.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup fetch check test demo up bench bench-columns bench-latency bench-scaling bench-memory bench-spark faults driver-kills faults-spark soak fuzz tables types-page constraints clean

PYTHON := .venv/bin/python
# Two, however many cores: each process starts servers of its own and waits for them most of the time.
SIDE_BY_SIDE ?= 2
export PYTHONUTF8 := 1

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | while IFS= read -r line; do printf '  make %-14s %s\n' "$${line%%:*}" "$${line##*## }"; done

setup: ## Make the virtual environment with the pinned packages (as root on Debian: install missing system packages too)
	@bash deploy/setup.sh

fetch: setup ## Bring the servers' files here once; afterwards everything works offline
	@$(PYTHON) -m deploy.embedded fetch

check: setup ## Lint, format, types and import rules; writes nothing
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -c 'import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())'

test: setup fetch check ## Everything that must hold: check, then all tests against real servers
	$(PYTHON) -m pytest --numprocesses $(SIDE_BY_SIDE) --dist loadfile --no-loadscope-reorder $(PYTEST)

demo: setup ## Two shards, Kafka and an equal copy on real servers, until Ctrl-C; ONCE=1 ends by itself
	@$(PYTHON) -m deploy.demo $(if $(ONCE),--once)

up: setup ## Start MariaDB, ZooKeeper and Kafka on free loopback ports, until Ctrl-C
	@$(PYTHON) -m deploy.embedded up

bench: setup ## Rows per second beside Debezium Server on the same binlog (780 MB once, JDK 21); QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tests.bench throughput $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-columns: setup ## What a row costs in memory by its number of columns; INTO=folder
	@$(PYTHON) -m tests.bench.columns $(if $(INTO),--into "$(INTO)")

bench-latency: setup ## Commit to consumer at 500 transactions a second beside Debezium Server; QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tests.bench latency $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-scaling: setup ## Rows per second by columns, transaction size, tables, partitions, instances, with plots; QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tests.bench scaling $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-spark: setup ## Spark jobs: HBase beside the classic loop, Delta warm, by table size and by number of tables; INTO=folder, BENCH='hbase --messages 100000'
	@$(PYTHON) -m tests.bench.spark $(BENCH) $(if $(INTO),--into "$(INTO)")

bench-memory: setup ## The relay's peak memory: slow broker, 1 GB transaction, 10 000 tables, spool; ONLY='spool', INTO=folder
	@$(PYTHON) -m tests.bench.memory $(ONLY) $(if $(INTO),--into "$(INTO)")

faults: setup ## Every fault on real servers, 20 times: lost, repeated, out of order, silence; TIMES=1, SEED=1, ONLY='relay-killed', INTO=folder
	@$(PYTHON) -m tests.faults run $(ONLY) $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED)) $(if $(INTO),--into "$(INTO)")

driver-kills: setup ## Kill the Spark stream's process at random moments; each time the copies must be exact; TIMES=20, SEED=1
	@$(PYTHON) -m tests.faults.driver_kills $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED))

faults-spark: setup ## kill -9 of the Spark job at random and between its two commits, and of HBase, sink by sink; FAULTS='between --sink jdbc --times 1'
	@$(PYTHON) -m tests.spark_faults $(FAULTS)

soak: setup ## Half an hour of load with a random fault every 20 s; at the end source and copy must be equal; MINUTES=30, SEED=1
	@$(PYTHON) -m tests.faults soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(INTO),--into "$(INTO)")

fuzz: setup ## A million damaged and hostile binlog events: a named error or rows, in bounded time and memory; INPUTS=1000000, SEED=1
	@$(PYTHON) -m tests.fuzz $(if $(INPUTS),--inputs $(INPUTS)) $(if $(SEED),--seed $(SEED))

tables: fetch ## Made-up tables on every server: what is published adds up to SELECT; EXAMPLES=300
	EXAMPLES=$(or $(EXAMPLES),300) $(PYTHON) -m pytest --timeout 3600 tests/integration/test_made_tables.py

types-page: fetch ## Write the texts of docs/types.md anew, as real servers and the relay print them
	@$(PYTHON) -m tests.types

.PHONY: bootstrap-under-load bench-reconcile
bootstrap-under-load: setup ## First copy beside relay, stream and load, killed once, done twice; at the end source and copy must be equal
	@$(PYTHON) -m tests.copies under-load $(if $(ROWS),--rows $(ROWS)) $(if $(SECONDS),--seconds $(SECONDS))

bench-reconcile: setup ## One flipped byte in the copy of 10 million rows is found, and repaired; ROWS=1000000, SERVER=mysql
	@$(PYTHON) -m tests.copies flipped-byte $(if $(ROWS),--rows $(ROWS)) $(if $(SERVER),--server $(SERVER))

constraints: setup ## Pin the newest allowed packages anew
	$(PYTHON) -m uv pip compile pyproject.toml deploy/build-requirements.txt --universal --python-version 3.11 --all-extras \
		--group dev --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade --quiet -o constraints.txt

clean: ## Remove what was built here; the cache of fetched files stays
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
