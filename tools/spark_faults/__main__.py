"""Kill the driver, or HBase, and compare the copy with its expected rows: `python -m
tools.spark_faults --help`, `make faults-spark`.
"""

import argparse
import random
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any, Final

from pyspark.sql import SparkSession

from deploy.embedded import HBase, Kafka, MariaDB, ServerProcess
from deploy.embedded.fetching.progress import say
from tests.support.copies.checkpoint import begun, cut_off
from tests.support.copies.job_process import JobProcess
from tests.support.copies.spark_copies import drain
from tests.support.waiting import wait_until
from tools.bench.spark.job_run import started
from tools.faults.revival import start_again
from tools.spark_faults.stage import Stage, stage

_BATCHES_S: Final = 6.0
"""Seconds that a job needs for its batches, roughly; kills occur during them."""
_END_S: Final = 150


def killed_at_random(
    run: Stage, chance: random.Random, _servers: Mapping[str, ServerProcess]
) -> str:
    """Kill the driver (SIGKILL), JVM included, at a random moment of its batches."""
    with JobProcess(run.settings, run.folder) as job:
        wait_until(lambda: bool(begun(run.settings)) or not job.running, "a batch", _END_S)
        Event().wait(chance.uniform(0, _BATCHES_S))
        ended = not job.running
    return "it had ended" if ended else f"{cut_off(run.settings)} batch cut off"


def killed_between_commits(
    run: Stage, _chance: random.Random, _servers: Mapping[str, ServerProcess]
) -> str:
    """Kill the driver after the sink has a batch and before Spark records it."""
    for _ in range(2):
        with JobProcess(
            run.settings, run.folder, sys.executable, "-m", "tests.support.copies.crashing_job"
        ) as job:
            assert job.wait(_END_S) == -signal.SIGKILL, job.errors
    return "twice, at the same batch"


def hbase_killed(run: Stage, chance: random.Random, servers: Mapping[str, ServerProcess]) -> str:
    """Kill HBase and its gateway during the batches. Both restart immediately."""
    hbase = servers["hbase"]
    with JobProcess(run.settings, run.folder) as job:
        wait_until(lambda: "batch 0" in job.output or not job.running, "the first batch", _END_S)
        Event().wait(chance.uniform(0, 1))
        running = job.running
        hbase.kill()
        hbase.start()
        assert job.wait(_END_S) == 0, job.errors
    return "while the job ran" if running else "it had ended"


SCENARIOS: Final[
    Mapping[str, Callable[[Stage, random.Random, Mapping[str, ServerProcess]], str]]
] = {
    "killed": killed_at_random,
    "between": killed_between_commits,
    "hbase": hbase_killed,
}
_OF_HBASE: Final = ("version", "check_and_mutate", "jvm", "files")
"""The guards through the gateway; check_and_mutate through HBase's own client.

Files under the guard version.
"""
SINKS: Final = ("delta", *_OF_HBASE, "jdbc", "parquet")


def main() -> int:
    """Run the command line; the result is the number of copies that were not equal."""
    arguments = _parser().parse_args()
    sinks = arguments.sink or SINKS
    different = 0
    with Kafka() as kafka, _servers_for(sinks) as servers:
        spark = None
        for name in arguments.scenario or SCENARIOS:
            for sink in (each for each in sinks if name != "hbase" or each in _OF_HBASE):
                for seed in range(arguments.seed, arguments.seed + arguments.times):
                    topic = f"{name}_{sink}_{seed}"
                    start_again([kafka, *servers.values()])
                    with stage(kafka, topic, seed, _sink(sink, topic, servers)) as run:
                        happened = SCENARIOS[name](run, random.Random(seed), servers)
                        spark = spark or started(run.settings)
                        drain(run.settings, within_s=_END_S)
                        equal = run.copy(spark) == run.truth
                    different += not equal
                    say(
                        f"{name}, {sink}, seed {seed}: {happened}; "
                        f"{'equal' if equal else 'DIFFERENT'}"
                    )
        _end(spark)
    say(f"{different} copies differ")
    return min(different, 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.spark_faults", description=__doc__)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    parser.add_argument(
        "--sink", action="append", choices=SINKS, help="only this sink; may be repeated"
    )
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    return parser


@contextmanager
def _servers_for(sinks: Any) -> Iterator[dict[str, ServerProcess]]:
    """Context manager: start the servers of the sinks."""
    servers: dict[str, ServerProcess] = {}
    if set(_OF_HBASE) & set(sinks):
        servers["hbase"] = HBase()
    if "jdbc" in sinks:
        servers["mariadb"] = MariaDB()
    try:
        for server in servers.values():
            server.start()
        yield servers
    finally:
        for server in servers.values():
            server.close()


def _sink(name: str, topic: str, servers: Mapping[str, ServerProcess]) -> dict[str, Any]:
    """Return the settings of a sink for one run."""
    match name:
        case "version" | "check_and_mutate":
            section = {
                "thrift": (servers["hbase"].address,),
                "guard": name,
                "namespace": topic,
                "rows_per_call": 50,
                "writers": 2,
            }
            return {"sink": "hbase", "hbase": section}
        case "jvm" | "files":
            hbase = servers["hbase"]
            assert isinstance(hbase, HBase)
            return {"sink": "hbase", "hbase": _java_client(name, topic, hbase)}
        case "jdbc":
            mariadb = servers["mariadb"]
            assert isinstance(mariadb, MariaDB)
            section = {
                "host": mariadb.host,
                "port": mariadb.port,
                "user": mariadb.user,
                "password": mariadb.password,
            }
            return {"sink": "jdbc", "mirror": {**section, "prefix": f"{topic}_"}}
        case _:
            return {"sink": name}


def _java_client(name: str, topic: str, hbase: HBase) -> dict[str, Any]:
    section = {
        "thrift": (hbase.address,),
        "client": "jvm",
        "quorum": (hbase.quorum,),
        "namespace": topic,
        "rows_per_call": 50,
        "writers": 2,
    }
    if name == "files":
        files = {"staging": (hbase.folder / "staging").as_uri(), "from_rows": 20}
        return {**section, "files": files}
    return {**section, "guard": "check_and_mutate"}


def _end(spark: SparkSession | None) -> None:
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
