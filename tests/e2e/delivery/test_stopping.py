"""A relay that is asked to stop ends soon, whatever does not answer.

The next one goes on exactly where Kafka says.
"""

import time
from collections.abc import Callable

import psutil
import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

SOON_SECONDS = 12
"""Less than what does not answer would take: a transaction's timeout of 15 s. It has to be enough
for a busy machine.
"""
GONE = {"killed": (Kafka.kill, Kafka.start), "hanging": (Kafka.pause, Kafka.resume)}


def seconds_to_stop(relay: RelayProcess) -> float:
    asked_s = time.monotonic()
    assert relay.stop() == 0, relay.log_tail()
    return time.monotonic() - asked_s


def connected_ports(pid: int) -> set[int]:
    """The ports that a process is connected to."""
    return {
        each.raddr.port
        for each in psutil.Process(pid).net_connections("tcp")
        if each.status == psutil.CONN_ESTABLISHED
    }


@pytest.mark.parametrize("how", GONE)
def test_a_stop_while_a_commit_is_unanswered_is_soon_over_and_nothing_is_lost_or_repeated(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation, how: str
) -> None:
    leave, come_back = GONE[how]
    broker = new_kafka()
    installation = new_installation(mariadb, broker)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            wait_until(
                lambda: (found := installation.status()) is not None and found.published_rows > 300,
                "rows flow",
            )
            leave(broker)
            wait_until(lambda: scrape(relay)["roma_lag_seconds"] > 3, "a commit without an answer")
            took_s = seconds_to_stop(relay)
            assert installation.status().state == "ENDED"  # type: ignore[union-attr]
            come_back(broker)
            relay.start()
            relay.wait_for("RUNNING")
            load.end()
            wait_until(lambda: published_end(installation) == binlog_end(mariadb), "the end")
            assert_exactly_once(read_topic(broker.bootstrap, name), load, mariadb, name)
    assert took_s < SOON_SECONDS
    print(f"stopped after {took_s:.1f} s")


@pytest.mark.long
def test_a_stop_while_a_relay_waits_for_its_broker_is_soon_over(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation
) -> None:
    broker = new_kafka()
    installation = new_installation(mariadb, broker)
    broker.pause()
    with RelayProcess(installation) as relay:
        wait_until(lambda: broker.port in connected_ports(relay.pid), "the relay asks the broker")
        took_s = seconds_to_stop(relay)
        relay.start()
        relay.wait_for("WAITING", "BROKER_UNREACHABLE")
        took_again_s = seconds_to_stop(relay)
    broker.resume()
    assert took_s < SOON_SECONDS
    assert took_again_s < SOON_SECONDS


def test_a_stop_while_the_source_does_not_answer_is_soon_over(
    new_mariadb: Callable[..., MariaDB], kafka: Kafka, new_installation: NewInstallation
) -> None:
    database = new_mariadb()
    installation = new_installation(database, kafka)
    database.pause()
    try:
        with RelayProcess(installation) as relay:
            wait_until(lambda: database.port in connected_ports(relay.pid), "the relay logs in")
            took_s = seconds_to_stop(relay)
    finally:
        database.resume()
    assert took_s < SOON_SECONDS


def test_a_stop_under_load_ends_the_batch_and_leaves_nothing_to_repair(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            for _ in range(3):
                wait_until(
                    lambda: (
                        (found := installation.status()) is not None and found.published_rows > 300
                    ),
                    "rows flow",
                )
                assert seconds_to_stop(relay) < SOON_SECONDS
                relay.start()
                relay.wait_for("RUNNING")
            load.end()
            wait_until(lambda: published_end(installation) == binlog_end(mariadb), "the end")
        assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
        assert "abort_not_answered" not in relay.log.read_text()
