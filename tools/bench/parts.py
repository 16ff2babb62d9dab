"""Measures the cost of reading a giant transaction twice (ADR 43): `make bench-parts`.

The same rows are published three times by relays with usual settings. First, one Kafka transaction
holds all rows, and the source transaction is read once. Second, the rows are published in parts;
the relay reads the source transaction to its end before it publishes the first part. Third, a third
of the rows is rolled back to a savepoint; the relay begins to publish, reads the transaction to its
end, and reads it again. CPU seconds are from the kernel's counters, for the relay with its children
and for the source.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from deploy.embedded import MariaDB
from tests.support.relays.relay_process import RelayProcess
from tests.support.sources.counting_load import binlog_end
from tools.bench.measuring.comparison import (
    Comparison,
    SharedServers,
    installed,
    medians_of,
    seconds_to_publish,
)
from tools.bench.measuring.report import Report
from tools.bench.measuring.usage import cpu_seconds

_ROW_BYTES: Final = 1000
_MEGABYTE: Final = 1_000_000
_TIMEOUT_MS: Final = 600_000
"""Timeout of a Kafka transaction. The relay ends a part after a third of it; a whole transaction
must be shorter than that.
"""
_SETTLE_SECONDS: Final = 600.0
WHOLE: Final = "whole"
PARTS: Final = "parts"
ROLLED_BACK: Final = "rolled back"
VARIANTS: Final = {
    WHOLE: "one Kafka transaction; read once",
    PARTS: "parts of 64 MB; read to its end, then published",
    ROLLED_BACK: "the same with a third of the rows rolled back to a savepoint",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One round: seconds and CPU seconds from the relay's start to the end of the binlog.

    `load` is the machine's load average over one minute.
    """

    variant: str
    number: int
    binlog_mb: int
    seconds: float
    relay_cpu_s: float
    source_cpu_s: float
    load: float


def measure(servers: SharedServers, variant: str, number: int, megabytes: int) -> Found:
    """Write the transaction while no relay runs, then publish it."""
    name, load = f"parts_{number}_{variant.replace(' ', '_')}", round(os.getloadavg()[0], 2)
    database, written = servers.database, _Written()

    def write() -> None:
        written.before = binlog_end(database)
        _write(database, name, variant, megabytes)
        written.end, written.source_cpu_s = binlog_end(database), cpu_seconds(database.pid)

    first = f"insert into {name}.t values (-1, 0, 'first')"
    split = {"split_bytes": 2**40} if variant == WHOLE else {}
    instance = {"transaction": {"timeout_ms": _TIMEOUT_MS, **split}}
    tables = (f"create table {name}.t (id int primary key, n int, v longtext)",)
    with (
        installed(servers, name, tables, instance) as installation,
        RelayProcess(installation, name) as relay,
    ):
        seconds = seconds_to_publish(servers, relay, installation, first, write, _SETTLE_SECONDS)
        return Found(
            variant,
            number,
            written.megabytes or megabytes,
            round(seconds, 1),
            round(cpu_seconds(relay.pid), 1),
            round(cpu_seconds(database.pid) - written.source_cpu_s, 1),
            load,
        )


@dataclass(slots=True)
class _Written:
    """Size of the binlog after a round's writes, and CPU seconds of the source until then."""

    before: tuple[str, int] = ("", 0)
    end: tuple[str, int] = ("", 0)
    source_cpu_s: float = 0.0

    @property
    def megabytes(self) -> int:
        """Return its growth; 0 if the server began another file."""
        same_file = self.before[0] == self.end[0]
        return (self.end[1] - self.before[1]) // _MEGABYTE if same_file else 0


def _write(database: MariaDB, name: str, variant: str, megabytes: int) -> None:
    """Insert this number of megabytes in one transaction.

    MariaDB leaves rolled-back rows in its binlog beside a table without transactions.
    """
    third = megabytes * _MEGABYTE // _ROW_BYTES // 3
    with (
        database.connect(user="repl", autocommit=False) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"create temporary table {name}.scratch (a int) engine=myisam")
        cursor.execute("begin")
        for number in range(3):
            if number == 1:
                cursor.execute("savepoint s")
            first = number * third
            cursor.execute(
                f"insert into {name}.t select seq + {first}, 0, repeat('x', {_ROW_BYTES}) from "
                f"{name}.seq_1_to_{third}"
            )
            if number == 1:
                cursor.execute(f"insert into {name}.scratch values (1)")
                if variant == ROLLED_BACK:
                    cursor.execute("rollback to savepoint s")
        connection.commit()


def page(found: Sequence[Found]) -> Report:
    """Return the report: one line for each variant, with the medians of its rounds."""
    head = ("transaction", "what", "binlog", "seconds", "relay CPU s", "source CPU s", "load")
    rows = []
    for variant, what in VARIANTS.items():
        medians = medians_of(variant, found, _figures)
        binlog_mb = next(each.binlog_mb for each in found if each.variant == variant)
        rows.append((variant, what, f"{binlog_mb:,} MB", *(f"{median:.1f}" for median in medians)))
    notes = (
        (
            f"Rows of {_ROW_BYTES} bytes, medians of {max(each.number for each in found)} rounds; "
            f"the variants alternate on the same servers."
        ),
        (
            "Seconds from the start of the relay's process to the end of the binlog; its start "
            "is in all of them, and in its CPU seconds."
        ),
        (
            "Load is the machine's load average of one minute before a round: beyond its cores, "
            "seconds say little, and CPU seconds rise, too."
        ),
    )
    return Report(
        "A giant transaction that is read twice",
        head,
        rows,
        notes,
        [asdict(each) for each in found],
    )


def _figures(found: Found) -> tuple[float, float, float, float]:
    return found.seconds, found.relay_cpu_s, found.source_cpu_s, found.load


COMPARISON: Final = Comparison(
    "parts",
    __doc__,
    "megabytes",
    500,
    tuple(VARIANTS),
    {"sync_binlog": 0, "max_binlog_cache_size": 2**32},
    measure,
    page,
)

if __name__ == "__main__":
    COMPARISON.main()
