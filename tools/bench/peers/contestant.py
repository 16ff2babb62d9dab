"""What is measured: a process that brings rows from a binlog into topics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from tools.bench.measuring.workload import FINISH_SCHEMA, FINISH_TABLE, SCHEMA, Written

PARTITIONS: Final = 4


class BenchFailed(Exception):
    """A measurement that proves nothing: rows are missing or too many, or a process ended.

    The text says which, with the end of its log.
    """


def not_measured(what: str, failure: Exception) -> str:
    """One line for the report; the log's end is for the terminal."""
    return f"NOT MEASURED: {what}: {str(failure).splitlines()[0].removesuffix(' Its log ends:')}"


@dataclass(frozen=True, slots=True)
class Topics:
    """Where a contestant's rows arrive, each topic with PARTITIONS partitions, and where the finish
    line does.
    """

    rows: tuple[str, ...]
    finish: str

    @property
    def all(self) -> tuple[str, ...]:
        """Return every topic of the contestant, the one of the finish line last."""
        return (*self.rows, self.finish)

    @classmethod
    def by_table(cls, prefix: str, tables: tuple[str, ...]) -> "Topics":
        """One topic a table, `prefix.schema.table`."""
        return cls(
            tuple(f"{prefix}.{SCHEMA}.{table}" for table in tables),
            f"{prefix}.{FINISH_SCHEMA}.{FINISH_TABLE}",
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """The servers of one run and its place in the binlog.

    `label` tells it apart from every other run on these servers, `folder` is empty and its own;
    `live` asks for short ways instead of large batches, where a contestant knows the difference.
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
        """Whether a message holds several rows."""

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
        """End the process and remove what it made; may be called twice."""

    def log_tail(self) -> str:
        """Return the end of the log, for error messages."""
