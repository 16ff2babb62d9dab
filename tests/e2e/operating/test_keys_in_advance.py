"""Keys that would be hashed otherwise than those of their topic are told before the first row, and
what an operator accepts in advance stays in the record of a quiet instance.
"""

from typing import Any

from deploy.embedded import Kafka, MariaDB
from relay.preflight import Finding, Verdict, preflight
from tests.e2e.conftest import NewInstallation
from tests.e2e.operating.test_repartition import add_second, roma, state_of
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until


def told(installation: Installation, instance: str) -> Finding:
    """The finding about an instance's keys."""
    found = preflight(installation.settings)
    (finding,) = (each for each in found if (each.check, each.instance) == ("keys", instance))
    return finding


def test_preflight_tells_a_stop_that_is_to_come_and_heartbeats_keep_what_is_accepted(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, heartbeat={"topic": "{instance}.beats", "interval_seconds": 1}
    )
    name = installation.name
    beats: dict[str, Any] = {"topic": f"{name}.beats", "interval_seconds": 1}
    add_second(installation, mariadb, heartbeat=beats)
    mariadb.execute(
        f"create table {name}.people (k varchar(20) character set latin1 primary key)",
        f"create table {name}_2.people (k varchar(20) character set utf8mb4 primary key)",
        f"create table {name}_2.heap (n int)",
    )

    def rows() -> int:
        return len(read_topic(kafka.bootstrap, name))

    def heartbeats() -> int:
        return (
            len(read_topic(kafka.bootstrap, beats["topic"]))
            if topic_answers(kafka.bootstrap, beats["topic"])
            else 0
        )

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.people values ('ü')")
        wait_until(lambda: rows() == 1, "the row of the first instance")
        wait_until(lambda: state_of(installation, "second") == ("RUNNING", ""), "the second")
        assert told(installation, "shop").verdict is Verdict.PASSED
        warned = told(installation, "second")
        assert warned.verdict is Verdict.WARNING
        assert warned.sentence == (
            f"The first row of {name}_2.people stops the instance (PARTITIONS_CHANGED). Until "
            f"now keys of {name}.people were hashed for topic {name} in the form latin1. The next "
            "row would be hashed in the form utf8, so equal keys would get other partitions."
        )
        move = ["position", "repartition", "second", "--topic", name, "--table", f"{name}.people"]
        assert f"roma {' '.join(move)}" in warned.remedy

        assert roma(installation, *move, "--yes", "second")[0] == 0
        assert told(installation, "second").verdict is Verdict.PASSED
        before = heartbeats()
        wait_until(lambda: heartbeats() > before + 1, "records of the quiet instance")
        mariadb.execute(f"insert into {name}_2.people values ('ü')")
        wait_until(lambda: rows() == 2, "the row of the second instance")
        assert state_of(installation, "second") == ("RUNNING", "")
        assert told(installation, "second").verdict is Verdict.PASSED
