# Everything a developer, a stranger or the CI runs. Paths are relative and quoted: the project may lie in a folder with spaces.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup wheels fetch check test test-unit test-long reference docs demo up bench bench-admin bench-client bench-columns bench-latency bench-scaling bench-memory bench-parts bench-snapshots bench-spark bench-transactions bench-workers fleet faults driver-kills faults-spark soak fuzz tables ddl snapshots servers types-page constraints clean clients

PYTHON := .venv/bin/python
# However many cores: each process starts servers of its own, 2 GB of memory, and waits for them two thirds of the time.
SIDE_BY_SIDE ?= $(shell awk '/^MemAvailable/ { print ($$2 > 16000000 ? 6 : 4) }' /proc/meminfo)
export PYTHONUTF8 := 1
# Bytecode is kept, whatever the environment says: hundreds of processes would each compile every module.
export PYTHONDONTWRITEBYTECODE :=

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | while IFS= read -r line; do printf '  make %-14s %s\n' "$${line%%:*}" "$${line##*## }"; done

setup: ## Create the virtual environment with the pinned packages (as root on Debian: also install missing system packages)
	@bash deploy/setup.sh

wheels: ## Build wheels with compiled modules into dist, for each CPython 3.11 to 3.13 that is installed; needs no C compiler
	@bash deploy/wheels/build.sh

fetch: setup ## Download the servers' files once; afterwards no network is needed
	@$(PYTHON) -m deploy.embedded fetch
	@bash deploy/browser.sh
	@bash deploy/go_modules.sh

check: setup ## Check lint, format, types, import rules, generated pages and links of the documentation; changes no file of the project
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -c 'import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())'
	$(PYTHON) -m deploy.reference --check
	$(BUILD_SITE)

ifdef ONE
test: setup
	$(PYTHON) -m pytest $(ONE) $(PYTEST)
else
# Tests are collected on the core that mypy leaves free: the test processes then find the bytecode of all modules.
test: setup fetch ## Run check, then all tests against real servers; ONE='tests/unit/route -k name': only these tests
	@$(PYTHON) -m pytest --collect-only -q -p no:cacheprovider >/dev/null 2>&1 & \
		code=0; $(MAKE) --no-print-directory check || code=$$?; wait; exit $$code
	@bash deploy/test.sh "$(PYTHON)" -m "not long" --numprocesses $(SIDE_BY_SIDE) --dist loadfile --no-loadscope-reorder $(PYTEST)
endif

test-unit: setup ## Run the tests that need no servers, in under a minute: without the slow ones, 10 examples of each property
	$(PYTHON) -m pytest tests/unit -m "not slow" --hypothesis-profile quick --numprocesses $(SIDE_BY_SIDE) --dist loadfile --no-loadscope-reorder $(PYTEST)

test-long: setup fetch ## Run further cases of tests that `make test` runs once: servers, Delta commits, readers, seeds, 200 examples of each property
	$(PYTHON) -m pytest -m long --numprocesses $(SIDE_BY_SIDE) --dist loadfile --no-loadscope-reorder $(PYTEST)
	$(PYTHON) -m pytest tests/unit -m slow --hypothesis-profile thorough --numprocesses $(SIDE_BY_SIDE) --dist loadfile --no-loadscope-reorder $(PYTEST)

reference: setup ## Write the generated pages of docs/reference and the pictures of docs/pictures
	$(PYTHON) -m deploy.reference

BUILD_SITE := NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict
docs: setup ## Build the documentation site into build/site, every link checked; SERVE=1 serves it on loopback instead
	$(if $(SERVE),NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs serve,$(BUILD_SITE))
	@$(if $(SERVE),,echo "build/site/index.html")

demo: setup ## Run two shards, relay, Kafka and a copy that equals the source, on real servers, until Ctrl-C; ONCE=1 ends by itself
	@$(PYTHON) -m deploy.demo $(if $(ONCE),--once)

up: setup ## Start MariaDB, ZooKeeper and Kafka on free loopback ports, until Ctrl-C
	@$(PYTHON) -m deploy.embedded up

bench: setup ## Measure rows per second of the relay, Debezium Server and Canal on the same binlog (780 MB once, JDK 21); QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tools.bench throughput $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-admin: setup ## Measure the admin's response times for 500 instances x 500 tables x 50 relays; BENCH='--requests 20'
	@$(PYTHON) -m tools.bench.admin $(BENCH)

bench-client: setup ## Measure rows per second of roma_client, a plain consumer that parses JSON, and Canal's client; BENCH='--help', INTO=folder
	@$(PYTHON) -m tools.bench.clients $(BENCH) $(if $(INTO),--into "$(INTO)")

bench-columns: setup ## Measure the CPU time of printing a row by its number of columns, without servers; INTO=folder
	@$(PYTHON) -m tools.bench.columns $(if $(INTO),--into "$(INTO)")

bench-latency: setup ## Measure the time from commit to consumer at 500 transactions per second, of the relay and of Debezium Server; QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tools.bench latency $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-scaling: setup ## Measure rows per second by columns, transaction size, tables, partitions and instances, with plots; QUICK=1, INTO=folder, BENCH='--help'
	@$(PYTHON) -m tools.bench scaling $(if $(QUICK),--quick) $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-spark: setup ## Measure the Spark jobs: HBase compared with the classic loop; Delta warm, by table size and by number of tables; INTO=folder, BENCH='hbase --messages 100000'
	@$(PYTHON) -m tools.bench.spark $(BENCH) $(if $(INTO),--into "$(INTO)")

bench-memory: setup ## Measure the relay's peak memory: slow broker, 1 GB transaction, 10 000 tables, spool; ONLY='spool', INTO=folder
	@$(PYTHON) -m tools.bench.memory $(ONLY) $(if $(INTO),--into "$(INTO)")

fleet: setup ## Measure 1,000 instances on 50 simulated relays with a real ZooKeeper: start, idle time, loss of a third of the relays, restarts; BENCH='--instances 100 --relays 10'
	@$(PYTHON) -m tools.fleet $(BENCH)

bench-workers: setup ## Measure the memory of each added worker process of the relay; BENCH='2 4 8'
	@$(PYTHON) -m tools.bench.worker_memory $(BENCH)

bench-snapshots: setup ## Measure copies of tables, while live rows are published, and Debezium's incremental snapshot (780 MB once, JDK 21); INTO=folder, BENCH='--help'
	@$(PYTHON) -m tools.bench.snapshots $(if $(INTO),--into "$(INTO)") $(BENCH)

bench-parts: setup ## Measure the cost of reading a giant transaction twice: whole, in parts, in parts with rolled-back rows; BENCH='--megabytes 100', INTO=folder
	@$(PYTHON) -m tools.bench.parts $(BENCH) $(if $(INTO),--into "$(INTO)")

bench-transactions: setup ## Measure the cost of the topic of transactions for one-row transactions; BENCH='--transactions 100000', INTO=folder
	@$(PYTHON) -m tools.bench.transactions $(BENCH) $(if $(INTO),--into "$(INTO)")

faults: setup ## Run every fault scenario on real servers 20 times; count lost, repeated and reordered changes, and measure the time without rows; TIMES=1, SEED=1, ONLY='relay-killed', TRANSACTIONS=1, INTO=folder
	@$(PYTHON) -m tools.faults run $(ONLY) $(if $(TRANSACTIONS),--transactions) $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED)) $(if $(INTO),--into "$(INTO)")

clients: setup ## Run roma_client under random kills, pauses, rebalances, edits and broker restarts; count lost, repeated and reordered changes; TIMES=50, SEED=1, ONLY=exclusive
	@$(PYTHON) -m tools.clients $(ONLY) $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED))

driver-kills: setup ## Kill the Spark stream's process at random moments; each time the copies must be exact; TIMES=20, SEED=1
	@$(PYTHON) -m tools.faults.driver_kills $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED))

faults-spark: setup ## Kill the Spark job (kill -9) at random and between its two commits, and HBase, for each sink; each time the copy must be exact; FAULTS='between --sink jdbc --times 1'
	@$(PYTHON) -m tools.spark_faults $(FAULTS)

soak: setup ## Run half an hour of load with a random fault every 20 s; at the end source and copy must be equal; MINUTES=30, SEED=1
	@$(PYTHON) -m tools.faults soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(INTO),--into "$(INTO)")

fuzz: setup ## Decode a million damaged and hostile binlog events; each must give rows or a named error, in bounded time and memory; INPUTS=1000000, SEED=1
	@$(PYTHON) -m tools.fuzz $(if $(INPUTS),--inputs $(INPUTS)) $(if $(SEED),--seed $(SEED))

tables: fetch ## Publish random tables of every server; the messages must add up to the result of SELECT; EXAMPLES=300
	EXAMPLES=$(or $(EXAMPLES),300) $(PYTHON) -m pytest --timeout 3600 tests/integration/schema/test_made_tables.py

servers: fetch ## Test column types, random tables, XA, random DDL, kill -9 and a switch on every release of the embedded stack (900 MB once); SERVERS=mysql-5.5,mariadb-10.1, EXAMPLES=40
	SERVERS=$(or $(SERVERS),all) EXAMPLES=$(or $(EXAMPLES),40) $(PYTHON) -m pytest --timeout 900 tests/e2e/sources/test_releases.py

ddl: fetch ## Run random DDL on every server; the schema history must equal information_schema after each statement; STATEMENTS=2000, SEED=1, SERVER=mysql-5.7
	@$(PYTHON) -m tests.ddl $(if $(STATEMENTS),--statements $(STATEMENTS)) $(if $(SEED),--seed $(SEED)) $(if $(SERVER),--server $(SERVER))

snapshots: fetch ## Copy tables under load, kills, ALTERs and mapping edits; the last message of each key must equal its row; TIMES=20, SEED=1, SERVER=mysql-9.7
	@$(PYTHON) -m tests.snapshots $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED)) $(if $(SERVER),--server $(SERVER))

types-page: fetch ## Write the texts of docs/types.md again, as real servers and the relay print them
	@$(PYTHON) -m tests.types

.PHONY: bootstrap-under-load bench-reconcile
bootstrap-under-load: setup ## Run a first copy twice while relay, stream and load run, killed once; at the end source and copy must be equal
	@$(PYTHON) -m tools.copies under-load $(if $(ROWS),--rows $(ROWS)) $(if $(SECONDS),--seconds $(SECONDS))

bench-reconcile: setup ## Flip one byte in a copy of 10 million rows, find it and repair it, and measure the time; ROWS=1000000, SERVER=mysql
	@$(PYTHON) -m tools.copies flipped-byte $(if $(ROWS),--rows $(ROWS)) $(if $(SERVER),--server $(SERVER))

constraints: setup ## Pin the newest allowed packages again
	$(PYTHON) -m uv pip compile pyproject.toml deploy/build-requirements.txt --universal --python-version 3.11 --all-extras \
		--group dev --group docs --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade --quiet -o constraints.txt

clean: ## Remove built files; the cache of downloaded files remains
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
