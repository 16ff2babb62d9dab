"""The scenarios of `tools.bench.memory`."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final

from deploy.embedded import Kafka, MariaDB
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until

TABLES: Final = 10_000
NAME: Final = "memory"


@dataclass(frozen=True, slots=True)
class ScenarioSetup:
    """The servers and the relay of a scenario; the table `memory.t` is mapped."""

    database: MariaDB
    kafka: Kafka
    installation: Installation
    relay: RelayProcess


@dataclass(frozen=True, slots=True)
class Scenario:
    """A load whose peak memory is measured.

    what         description for the report
    act          runs the load
    tables       number of tables that the relay reads
    event_bytes  size of the largest event
    instance     returns settings of the instance; its argument is an empty folder
    prepare      runs before the relay starts
    end_seconds  time limit for publishing everything
    """

    what: str
    act: Callable[[ScenarioSetup], None]
    tables: int = 1
    event_bytes: int = 10_000
    instance: Callable[[Path], dict[str, Any]] = lambda _: {}
    prepare: Callable[[MariaDB], None] = lambda _: None
    end_seconds: float = 80.0


def slow_broker(setup: ScenarioSetup) -> None:
    """Insert 200,000 rows at full speed, for 20 s at most, while the broker is paused nine tenths
    of the time.
    """
    ended = threading.Event()
    slow = threading.Thread(target=_slow_down, args=(setup.kafka, ended), name="slow")
    slow.start()
    try:
        with setup.database.connect() as connection, connection.cursor() as cursor:
            first, until_s = 0, monotonic() + 20
            while monotonic() < until_s and first < 200_000:
                cursor.execute(
                    f"insert into {NAME}.t select seq + {first}, 0, repeat('x', 1000) from "
                    f"{NAME}.seq_1_to_500"
                )
                first += 500
        ended.wait(10)
    finally:
        ended.set()
        slow.join()


def giant_transaction(setup: ScenarioSetup) -> None:
    """Insert 100,000 rows of 10 KB in one transaction."""
    setup.database.execute(
        f"insert into {NAME}.t select seq, 0, repeat(md5(seq), 320) from {NAME}.seq_1_to_100000"
    )


def xa_commit(setup: ScenarioSetup) -> None:
    """Prepare two XA transactions of 1 GB each, and commit the first while both are prepared."""
    for number, xid in enumerate(("first", "second")):
        rows = f"{NAME}.seq_{number * 100_000 + 1}_to_{(number + 1) * 100_000}"
        setup.database.execute(
            f"xa start '{xid}'",
            f"insert into {NAME}.t select seq, 0, repeat(md5(seq), 320) from {rows}",
            f"xa end '{xid}'",
            f"xa prepare '{xid}'",
        )
    setup.database.execute("xa commit 'first'")


def make_tables(database: MariaDB) -> None:
    """Create TABLES small tables before the relay starts."""
    with database.connect() as connection, connection.cursor() as cursor:
        for number in range(TABLES):
            cursor.execute(
                f"create table {NAME}.t{number} (id int primary key, n int, v varchar(100)) "
                f"engine=memory"
            )


def many_tables(setup: ScenarioSetup) -> None:
    """Insert two rows into each of TABLES tables, in two rounds over all of them."""
    with setup.database.connect() as connection, connection.cursor() as cursor:
        for row in (1, 2):
            for number in range(TABLES):
                cursor.execute(f"insert into {NAME}.t{number} values ({row}, 1, 'row')")


def spool(setup: ScenarioSetup) -> None:
    """Kill the broker, write until the spool has more than 200 MB, start the broker again."""
    setup.kafka.kill()
    for first in range(0, 200_000, 20_000):
        setup.database.execute(
            f"insert into {NAME}.t select seq + {first}, 0, repeat('x', 1000) from "
            f"{NAME}.seq_1_to_20000"
        )
    wait_until(lambda: _spooled(setup.installation) > 200_000_000, "the spool", 40)
    setup.kafka.start()


SCENARIOS: Final = {
    "slow-broker": Scenario(
        "200 MB of rows while the broker is paused for nine tenths of the time", slow_broker
    ),
    "giant-transaction": Scenario("one transaction of 1 GB, in rows of 10 KB", giant_transaction),
    "xa-commit": Scenario(
        "XA COMMIT of 1 GB beside another prepared 1 GB, in rows of 10 KB",
        xa_commit,
        end_seconds=600.0,
    ),
    "many-tables": Scenario(
        "two rows in each of 10,000 tables", many_tables, tables=TABLES, prepare=make_tables
    ),
    "spool": Scenario(
        'spool = "mixed": 200 MB of rows while Kafka is away, then published from disk',
        spool,
        instance=lambda folder: {
            "spool": "mixed",
            "spooling": {"directory": str(folder / "spool"), "after_seconds": 1},
        },
    ),
}


def _slow_down(kafka: Kafka, ended: threading.Event) -> None:
    while not ended.is_set():
        kafka.pause()
        ended.wait(0.9)
        kafka.resume()
        ended.wait(0.1)


def _spooled(installation: Installation) -> int:
    status = installation.status()
    return status.spool_bytes if status is not None else 0
