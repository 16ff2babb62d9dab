"""Who runs what: moves, drains and stops hand an instance over with nothing lost and nothing
twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from deploy.embedded import Kafka, MariaDB
from relay.state import Note
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

NOTE = Note("test", "test")


@contextmanager
def two_relays(installation: Installation) -> Iterator[tuple[RelayProcess, RelayProcess]]:
    """Relays on servers called `first` and `second`; the instance runs on the first."""
    with RelayProcess(installation, "first", SERVER="first") as first:
        first.wait_for("RUNNING")
        with RelayProcess(installation, "second", SERVER="second") as second:
            wait_until(lambda: len(installation.membership.members()) == 2, "the second relay")
            yield first, second


def has_tables(relay: RelayProcess) -> bool:
    """Say whether a relay shows metrics of single tables."""
    return any(name.startswith("roma_table_rows_total") for name in scrape(relay))


def test_moves_drains_and_stops_lose_nothing_and_repeat_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, placement={"server": "${SERVER}", "rebalance_seconds": 0.2}
    )
    name, overrides = installation.name, installation.overrides
    with two_relays(installation) as (first, second), CountingLoad(mariadb, name) as load:
        wait_until(lambda: has_tables(first), "metrics of tables")
        overrides.hand_over("shop", "second", NOTE)
        second.wait_for("RUNNING")
        assert "HANDED_OVER" in first.log.read_text()
        wait_until(lambda: not has_tables(first), "no metrics of tables after the hand-over")
        wait_until(lambda: has_tables(second), "those of the relay that leads")
        overrides.drain("second", NOTE)
        first.wait_for("RUNNING")
        overrides.end_maintenance("second")
        second.wait_for("RUNNING")  # the move still stands
        assert second.stop() == 0
        first.wait_for("RUNNING")
        second.start()
        second.wait_for("RUNNING")
        overrides.withdraw_hand_over("shop")
        load.end()
        wait_until(lambda: published_end(installation) == binlog_end(mariadb), "the end")
        assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
        assert_exactly_once(
            read_topic(kafka.bootstrap, name, isolation="read_uncommitted"), load, mariadb, name
        )


def test_a_standby_says_why_it_could_not_take_over(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, source={"password": "${PASSWORD}"}, placement={"server": "${SERVER}"}
    )
    with RelayProcess(installation, "first", SERVER="first", PASSWORD="relay") as first:
        first.wait_for("RUNNING")
        with RelayProcess(installation, "second", SERVER="second", PASSWORD="wrong"):
            wait_until(
                lambda: "SOURCE_LOGIN_REFUSED" in installation.unready("second"),
                "the standby to say it",
            )
            installation.overrides.hand_over("shop", "second", NOTE)
            installation.overrides.drain("first", NOTE)
            mariadb.execute(f"insert into {installation.name}.t values (1, 1, 'a')")
            wait_until(lambda: len(read_topic(kafka.bootstrap, installation.name)) == 1, "the row")
            assert first.wait_for("RUNNING").relay == installation.membership.leaders()["shop"]
