"""Measures the cost of the topic of transactions for one-row transactions (ADR 72): `make
bench-transactions`.

The same transactions of one row are published three times by relays with usual settings: without
the topic, without the topic in a format that is printed event by event, and with the topic. Rows
with the topic are printed event by event, too. CPU seconds are the kernel's, of the relay with its
children.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from tests.support.relays.relay_process import RelayProcess
from tools.bench.measuring.comparison import (
    Comparison,
    SharedServers,
    installed,
    medians_of,
    seconds_to_publish,
)
from tools.bench.measuring.report import Report
from tools.bench.measuring.usage import cpu_seconds

_SETTLE_SECONDS: Final = 300.0
WITHOUT: Final = "without"
EVENTS: Final = "event by event"
WITH: Final = "with"
VARIANTS: Final = {
    WITHOUT: "canal-json, many transactions printed at once",
    EVENTS: "debezium-json, which prints event by event, too",
    WITH: "canal-json with transaction.topic",
}
_FORM: Final[Mapping[str, Any]] = {EVENTS: {"message": {"format": "debezium-json"}}}


@dataclass(frozen=True, slots=True)
class Found:
    """One round: seconds from the relay's start to the end of the binlog, and its CPU seconds.

    `load` is the machine's load average over one minute.
    """

    variant: str
    number: int
    transactions: int
    seconds: float
    relay_cpu_s: float
    load: float

    @property
    def per_second(self) -> float:
        """Return the transactions a second."""
        return self.transactions / self.seconds


def measure(servers: SharedServers, variant: str, number: int, transactions: int) -> Found:
    """Write the transactions while no relay runs, then publish them."""
    name, load = f"txn_{number}_{variant.replace(' ', '_')}", round(os.getloadavg()[0], 2)
    first = f"insert into {name}.t values (-1, 'first')"
    write = partial(servers.database.execute, f"call {name}.write_rows({transactions})")
    topic: dict[str, Any] = {"transaction": {"topic": f"{name}.transactions"}}
    wanted = topic if variant == WITH else _FORM.get(variant, {})
    with (
        installed(servers, name, _tables(name), wanted) as installation,
        RelayProcess(installation, name) as relay,
    ):
        seconds = seconds_to_publish(servers, relay, installation, first, write, _SETTLE_SECONDS)
        return Found(
            variant, number, transactions, round(seconds, 2), round(cpu_seconds(relay.pid), 2), load
        )


def _tables(name: str) -> tuple[str, str]:
    return (
        f"create table {name}.t (id int primary key, v varchar(40))",
        (
            f"create procedure {name}.write_rows(rows_wanted int) begin declare i int default 0; "
            f"while i < rows_wanted do insert into {name}.t values (i, 'a row of a transaction'); "
            f"set i = i + 1; end while; end"
        ),
    )


def page(found: Sequence[Found]) -> Report:
    """Return the report: a line for each variant, with the medians of its rounds."""
    head = ("topic of transactions", "what", "transactions/s", "seconds", "relay CPU s", "load")
    rows = []
    for variant, what in VARIANTS.items():
        medians = medians_of(variant, found, _figures)
        rows.append((variant, what, f"{medians[0]:,.0f}", *(f"{each:.1f}" for each in medians[1:])))
    notes = (
        (
            f"{found[0].transactions:,} transactions of one row, medians of "
            f"{max(each.number for each in found)} rounds; "
            "the variants alternate on the same servers."
        ),
        (
            "Seconds from the start of the relay's process to the end of the binlog; its start "
            "is in all of them, and in its CPU seconds."
        ),
        "Load is the machine's load average of one minute before a round.",
    )
    return Report(
        "The topic of transactions at one-row transactions",
        head,
        rows,
        notes,
        [asdict(each) for each in found],
    )


def _figures(found: Found) -> tuple[float, float, float, float]:
    return found.per_second, found.seconds, found.relay_cpu_s, found.load


COMPARISON: Final = Comparison(
    "transactions",
    __doc__,
    "transactions",
    100_000,
    tuple(VARIANTS),
    {"sync_binlog": 0, "innodb_flush_log_at_trx_commit": 0},
    measure,
    page,
)

if __name__ == "__main__":
    COMPARISON.main()
