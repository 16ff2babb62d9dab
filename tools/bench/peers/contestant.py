"""Interface of the measured programs: processes that publish the rows of a binlog."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from tools.bench.measuring.workload import FINISH_SCHEMA, FINISH_TABLE, SCHEMA, Written

PARTITIONS: Final = 4


class BenchFailed(Exception):
    """An invalid measurement: rows are missing or repeated, or a process ended.

    The text names the cause, with the end of the process's log.
    """


def not_measured(what: str, failure: Exception) -> str:
    """Return one line for the report, without the end of the log."""
    return f"NOT MEASURED: {what}: {str(failure).splitlines()[0].removesuffix(' Its log ends:')}"


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a contestant: one or more for rows, and one for the finish line."""

    rows: tuple[str, ...]
    finish: str

    @property
    def all(self) -> tuple[str, ...]:
        """Return every topic of the contestant, the one of the finish line last."""
        return (*self.rows, self.finish)

    @classmethod
    def by_table(cls, prefix: str, tables: tuple[str, ...]) -> "Topics":
        """Return one topic for each table: `prefix.schema.table`."""
        return cls(
            tuple(f"{prefix}.{SCHEMA}.{table}" for table in tables),
            f"{prefix}.{FINISH_SCHEMA}.{FINISH_TABLE}",
        )


@dataclass(frozen=True, slots=True)
class RunSetup:
    """The servers and the binlog of one run.

    folder   an empty folder for this run
    label    name that is unique among the runs on these servers
    tables   tables that the contestant publishes
    written  the filled binlog
    live     whether the contestant uses its settings for low latency, if it has them, instead of
             those for large batches
    """

    source: SqlServer
    kafka: Kafka
    zookeeper: ZooKeeper
    folder: Path
    label: str
    tables: tuple[str, ...]
    written: Written
    live: bool = False


class Contestant(Protocol):
    """One process (and its children) to be measured."""

    @property
    def packed(self) -> bool:
        """Return whether a message has several rows."""

    @property
    def topics(self) -> Topics:
        """Return the topics that the consumer reads to count rows."""

    @property
    def pid(self) -> int:
        """Return the process id; processor time and memory include its children."""

    @property
    def running(self) -> bool:
        """Return False once the process has ended."""

    def start(self) -> object:
        """Start the process; it may not be ready yet."""

    def close(self) -> None:
        """End the process and delete its files and topics; may be called twice."""

    def log_tail(self) -> str:
        """Return the end of the log, for error messages."""
