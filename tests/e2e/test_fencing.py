"""Promise 5: one voice. A paused relay that wakes up after another took over publishes nothing more."""

import signal
from pathlib import Path

import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
from tests.support.waiting import wait_until


@pytest.mark.timeout(240)
def test_a_paused_leader_is_fenced_and_stands_by(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation, "old") as old:
        old.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'old')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
        old.signal(signal.SIGSTOP)
        with RelayProcess(installation, "new") as new:
            new.wait_for("RUNNING")
            mariadb.execute(*(f"insert into {name}.t values ({number}, 1, 'new')" for number in range(2, 102)))
            old.signal(signal.SIGCONT)
            wait_until(lambda: "state=STANDBY" in old.log.read_text().splitlines()[-1], "the old relay standing by")
            mariadb.execute(f"insert into {name}.t values (102, 1, 'last')")
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 102, "all rows")
            seen = read_topic(kafka.bootstrap, name)
            assert sorted(int((each.value or {})["data"][0]["id"]) for each in seen) == list(range(1, 103))
            assert new.stop() == 0
        old.wait_for("RUNNING")
