"""Promise 5: one voice.

A paused relay that wakes up after another took over publishes nothing more.
"""

import signal
from contextlib import closing
from pathlib import Path

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from tests.e2e.conftest import NewInstallation
from tests.support.faults.fence import Stranger
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def test_a_paused_leader_is_fenced_and_stands_by(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation, "old") as old:
        old.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'old')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
        old.signal(signal.SIGSTOP)
        with RelayProcess(installation, "new") as new:
            new.wait_for("RUNNING")
            mariadb.execute(
                *(f"insert into {name}.t values ({number}, 1, 'new')" for number in range(2, 102))
            )
            old.signal(signal.SIGCONT)
            wait_until(
                lambda: "state=STANDBY" in old.log.read_text().rpartition("state=RUNNING")[2],
                "the old relay standing by",
            )
            mariadb.execute(f"insert into {name}.t values (102, 1, 'last')")
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 102, "all rows")
            seen = read_topic(kafka.bootstrap, name)
            assert sorted(int((each.value or {})["data"][0]["id"]) for each in seen) == list(
                range(1, 103)
            )
            assert new.stop() == 0
        old.wait_for("RUNNING")


def test_a_fenced_relay_that_cannot_ask_zookeeper_fences_nobody(
    mariadb: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, new_installation: NewInstallation
) -> None:
    with TcpGate("127.0.0.1", zookeeper.port) as gate:
        installation = new_installation(mariadb, kafka, relay_zookeeper=gate.address)
        name = installation.name
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            mariadb.execute(
                f"insert into {name}.t values (0, 1, 'of a topic that the instances have agreed "
                f"on')"
            )
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
            gate.shut()
            with closing(
                Stranger(kafka.bootstrap, f"{name}.shop", f"{name}.position.shop")
            ) as stranger:
                mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
                wait_until(lambda: "FENCED" in relay.log.read_text(), "the fence")
                assert stranger.holds(seconds=3), "the fenced relay opened another producer"
            gate.reopen()
            relay.wait_for("RUNNING")
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 2, "the row")
