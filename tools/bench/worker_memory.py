"""Measures the memory of worker processes: `python -m tools.bench.worker_memory`, see `--help`.

In the proportional set size (PSS) of a process, a shared page is divided by the number of processes
that share it. So the sum over the relay's processes is the memory of the relay.
"""

import argparse
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import psutil
import tomli_w

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.fetching.progress import say
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until

_MB: Final = 1_000_000
_LIMIT_MB: Final = 60
_INSTANCES: Final = 4
_START_S: Final = 90
_NAME: Final = "worker_memory"


def pss_bytes(pid: int) -> int:
    """Return the PSS of a process and all processes below it."""
    root = psutil.Process(pid)
    return sum(each.memory_full_info().pss for each in (root, *root.children(recursive=True)))


def measure(database: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, processes: int) -> int:
    """Return the PSS in bytes of a relay with `processes` processes that runs all instances."""
    with tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
        installation = Installation(
            f"{_NAME}_{processes}",
            Path(folder),
            database,
            kafka,
            zookeeper,
            placement={"processes": processes},
        )
        with closing(installation):
            _spread(installation)
            installation.map(
                topics=[{"logicDb": _NAME, "topic": _NAME}],
                dbs=[{"logicDb": _NAME, "realDbs": _NAME}],
            )
            # A variable of the interpreter: the process is started and not forked from another one.
            with RelayProcess(installation, PYTHONUNBUFFERED="1") as relay:
                wait_until(lambda: _runs(installation, processes), "all instances", _START_S)
                return pss_bytes(relay.pid)


def _spread(installation: Installation) -> None:
    (common,) = installation.document["instances"]
    installation.document["instances"] = [
        {
            **common,
            "name": f"instance_{number}",
            "source": {**common["source"], "server_id": 920_000 + number},
        }
        for number in range(_INSTANCES)
    ]
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")


def _runs(installation: Installation, processes: int) -> bool:
    states = [each.state for each in installation.statuses()]
    return (
        states == ["RUNNING"] * _INSTANCES and len(installation.membership.members()) == processes
    )


def main() -> int:
    """Run the command line; return 1 if an added worker takes more than the limit."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.worker_memory", description=__doc__
    )
    parser.add_argument(
        "processes",
        nargs="*",
        type=int,
        default=[2, 4],
        help="numbers of processes to compare with 1",
    )
    arguments = parser.parse_args()
    with ZooKeeper() as zookeeper, Kafka() as kafka, MariaDB() as database:
        one = measure(database, kafka, zookeeper, 1)
        say(f"1 process: {one / _MB:.0f} MB for {_INSTANCES} instances")
        worst_mb = 0.0
        for processes in arguments.processes:
            total = measure(database, kafka, zookeeper, processes)
            each_mb = (total - one) / (processes - 1) / _MB
            worst_mb = max(worst_mb, each_mb)
            say(f"{processes} processes: {total / _MB:.0f} MB, {each_mb:.0f} MB an added worker")
    return 0 if worst_mb <= _LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
