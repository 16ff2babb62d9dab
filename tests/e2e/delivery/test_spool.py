"""While Kafka is away or slow, the source's binlog goes to disk: it may be purged meanwhile, and
the relay may be killed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import time
from typing import Final

import pytest

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from deploy.embedded.processes.jvm import QUICK_START
from relay.state import InstanceStatus
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.purging import purged
from tests.support.waiting import wait_until

_PURGEABLE: Final = {"slave_connections_needed_for_purge": 0}
_WAIT_S: Final = 60.0


@pytest.fixture(scope="module")
def own_kafka() -> Iterator[Kafka]:
    """A broker that may be killed."""
    with factory(Kafka) as start:
        yield start(jvm_options=QUICK_START)


def insert(database: SqlServer, name: str, first: int, last: int) -> None:
    rows = ",".join(f"({number}, {number}, 'row')" for number in range(first, last + 1))
    database.execute(f"insert into {name}.t values {rows}")


def seen(kafka: Kafka, topic: str) -> Counter[int]:
    return Counter(
        int((each.value or {})["data"][0]["id"]) for each in read_topic(kafka.bootstrap, topic)
    )


def purge(database: SqlServer) -> None:
    """Leave the source the newest file alone.

    A file that somebody still reads stays, so that this proves that nobody does.
    """
    database.execute("flush binary logs")
    wait_until(lambda: purged(database), "the purge", _WAIT_S)


def wait_for_status(
    installation: Installation,
    relay: RelayProcess,
    holds: Callable[[InstanceStatus], bool],
    what: str,
) -> None:
    def shown() -> bool:
        status = installation.status()
        return status is not None and status.relay.endswith(f"-{relay.pid}") and holds(status)

    try:
        wait_until(shown, what, _WAIT_S)
    except AssertionError as exc:
        raise AssertionError(f"{exc}: {installation.status()}\n{relay.log_tail()}") from exc


def exactly(kafka: Kafka, topic: str, last: int, relay: RelayProcess) -> None:
    wanted = Counter(range(1, last + 1))
    try:
        wait_until(
            lambda: seen(kafka, topic).keys() >= wanted.keys(), f"rows up to {last}", _WAIT_S
        )
    except AssertionError as exc:
        raise AssertionError(f"{exc}\n{relay.log_tail()}") from exc
    assert seen(kafka, topic) == wanted


def mixed(folder: Path, limit_bytes: int = 100_000_000) -> dict[str, object]:
    return {
        "spool": "mixed",
        "spooling": {"directory": str(folder), "limit_bytes": limit_bytes, "after_seconds": 1},
    }


def test_what_a_source_purges_while_kafka_is_away_is_published_once(
    new_mariadb: Callable[..., MariaDB],
    own_kafka: Kafka,
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    """By a relay that was killed by kill -9 before and behind the purge, and whose last file has a
    torn tail.
    """
    database, kafka = new_mariadb(_PURGEABLE), own_kafka
    installation = new_installation(
        database, kafka, transaction={"timeout_ms": 3000}, **mixed(tmp_path / "spool")
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(database, name, 1, 10)
        exactly(kafka, name, 10, relay)

        kafka.kill()
        insert(database, name, 11, 20)
        wait_for_status(
            installation,
            relay,
            lambda it: it.spool == "filling" and it.spool_age_seconds > 0,
            "the spool in the status",
        )
        purge(database)
        insert(database, name, 21, 30)
        purge(database)
        before = installation.status()
        assert before is not None

        relay.kill()
        with max((tmp_path / "spool").rglob("*.spool")).open("ab") as file:
            file.write(b"torn")
        insert(database, name, 31, 40)
        relay.start()  # Kafka is away: only the spool says where to go on
        wait_for_status(
            installation, relay, lambda it: it.spool_bytes > before.spool_bytes, "more in the spool"
        )
        assert "spool_tail_cut" in relay.log.read_text()
        purge(database)

        relay.kill()
        kafka.start()
        relay.start()
        insert(database, name, 41, 50)
        exactly(kafka, name, 50, relay)
        wait_for_status(
            installation, relay, lambda it: not it.spool and not it.spool_bytes, "an empty spool"
        )
        assert not list((tmp_path / "spool").rglob("*.spool")), "rows stay on disk"


@pytest.mark.parametrize("killed", [False, True], ids=["running", "killed"])
def test_rows_on_disk_are_published_before_a_history_that_begins_again_stops_the_instance(
    new_mariadb: Callable[..., MariaDB],
    own_kafka: Kafka,
    new_installation: NewInstallation,
    tmp_path: Path,
    killed: bool,
) -> None:
    database, kafka = new_mariadb(), own_kafka
    reset_is_named_after_the_spool(
        database, "reset master", kafka, new_installation, tmp_path, killed=killed
    )


@pytest.mark.long
def test_rows_on_disk_are_published_before_a_history_of_mysql_that_begins_again_stops_the_instance(
    new_mysql: Callable[..., MySQL],
    own_kafka: Kafka,
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    reset = "reset binary logs and gtids"
    reset_is_named_after_the_spool(
        new_mysql(), reset, own_kafka, new_installation, tmp_path, killed=True
    )


def reset_is_named_after_the_spool(
    database: SqlServer,
    reset: str,
    kafka: Kafka,
    new_installation: NewInstallation,
    folder: Path,
    *,
    killed: bool,
) -> None:
    began_s = int(time())
    installation = new_installation(
        database, kafka, transaction={"timeout_ms": 3000}, **mixed(folder / "spool")
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(database, name, 1, 10)
        exactly(kafka, name, 10, relay)
        kafka.kill()
        insert(database, name, 11, 20)
        wait_for_status(
            installation,
            relay,
            lambda it: it.spool == "filling" and it.spool_age_seconds > 0,
            "the rows on disk",
        )
        wait_until(lambda: int(time()) > began_s, "the next second: files of one second are equal")
        database.execute(reset)
        insert(database, name, 21, 30)
        if killed:
            relay.kill()
        kafka.start()
        if killed:
            relay.start()
        exactly(kafka, name, 20, relay)
        relay.wait_for("STOPPED", "HISTORY_CHANGED")
        relay.stop()
        relay.start()
        relay.wait_for("STOPPED", "HISTORY_CHANGED")
        assert seen(kafka, name) == Counter(range(1, 21))


def test_a_full_spool_stops_reading_and_goes_on_when_kafka_is_back(
    mysql_9: MySQL, own_kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    database, kafka = mysql_9, own_kafka
    installation = new_installation(
        database, kafka, transaction={"timeout_ms": 3000}, **mixed(tmp_path / "spool", 16_000_000)
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(database, name, 1, 10)
        exactly(kafka, name, 10, relay)
        kafka.kill()
        for number in range(11, 51):
            database.execute(f"insert into {name}.t values ({number}, 1, repeat('x', 500000))")
        wait_for_status(
            installation,
            relay,
            lambda it: it.spool == "full" and 15_000_000 < it.spool_bytes < 17_000_000,
            "a full spool",
        )
        kafka.start()
        exactly(kafka, name, 50, relay)
        wait_for_status(
            installation, relay, lambda it: not it.spool and not it.spool_bytes, "an empty spool"
        )


def test_events_that_wait_too_long_in_memory_go_through_the_spool(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    """Kafka is there and does not keep up (here: a throttle): reading goes on into the spool,
    publishing out of it, each row once.
    """
    settings = mixed(tmp_path / "spool")
    installation = new_installation(
        mariadb, kafka, buffer={"buffer_size": 16}, flow={"rows_per_second": 20}, **settings
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        # Read in ten seconds, written sooner however busy the machine is; some ninety rows fill the
        # buffer, and wait there for four.
        mariadb.execute(
            *(
                f"insert into {name}.t select seq, 1, '' from {name}.seq_{first}_to_{first + 9}"
                for first in range(1, 201, 10)
            )
        )
        exactly(kafka, name, 200, relay)
        wait_for_status(
            installation, relay, lambda it: not it.spool and not it.spool_bytes, "an empty spool"
        )
        log = relay.log.read_text()
        assert [
            word
            for word in ("spool_filling_started", "GOES_TO_SPOOL", "spool_publishing_started")
            if word not in log
        ] == []
