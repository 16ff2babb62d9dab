"""Nothing ends a thread in silence: the relay resigns, tells it, tries again, and loses nothing."""

from pathlib import Path

import httpx
import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import scrape, status_url
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

_FAULTY = "tests.support.faults.faulty_relay"


def unexpected(relay: RelayProcess, thread: str) -> float:
    """How many unexpected errors the relay counts in threads of this kind."""
    return sum(
        number
        for name, number in scrape(relay).items()
        if name.startswith("roma_unexpected_errors_total,") and thread in name
    )


def hang_up(database: MariaDB, schema: str) -> None:
    """Kill the connections by which relays read the binlog, so that they begin a session anew."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "select id from information_schema.processlist where command like 'Binlog Dump%'"
        )
        for (each,) in cursor.fetchall():
            cursor.execute(f"kill {each}")


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("memory", "RELAY_ERROR"),
        ("client", "RESOURCES_EXHAUSTED"),
        ("thread", "RESOURCES_EXHAUSTED"),
    ],
)
def test_a_relay_that_fails_unexpectedly_resigns_and_heals(
    mariadb: MariaDB,
    kafka: Kafka,
    new_installation: NewInstallation,
    tmp_path: Path,
    what: str,
    code: str,
) -> None:
    installation = new_installation(mariadb, kafka)
    name, fault = installation.name, tmp_path / "fault"
    with RelayProcess(
        installation, "faulty", module=_FAULTY, ROMA_FAULT=f"{what}:{fault}"
    ) as faulty:
        faulty.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            wait_until(lambda: published_end(installation) > ("", 0), "the first rows")
            fault.touch()
            hang_up(mariadb, name)
            wait_until(lambda: code in faulty.log.read_text(errors="replace"), code)
            with RelayProcess(installation, "whole") as whole:
                whole.wait_for("RUNNING")
                assert (unexpected(faulty, "instance") > 0) is (what == "memory")
                fault.unlink()
                assert whole.stop() == 0
            faulty.wait_for("RUNNING")
            load.end()
            end = binlog_end(mariadb)
            wait_until(lambda: published_end(installation) >= end, f"the end of the binlog, {end}")
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)


def test_the_placement_tells_an_unexpected_error_and_heals(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation, fault = new_installation(mariadb, kafka), tmp_path / "fault"
    fault.touch()
    with RelayProcess(installation, module=_FAULTY, ROMA_FAULT=f"placement:{fault}") as relay:
        wait_until(lambda: "unheard of" in relay.log.read_text(), "the error in the log")
        fault.unlink()
        relay.wait_for("RUNNING")
        assert unexpected(relay, "placement") > 0
        assert (
            httpx.get(f"{status_url(relay)}/healthz", trust_env=False, timeout=60).status_code
            == 200
        )
