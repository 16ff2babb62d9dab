"""What a crash at each step of a commit does, on the instruction: docs/delivery.md says it, this
proves it.
"""

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

CRASHING = "tests.support.faults.crashing_relay"
START_COMMITTED = "committed:1"  # the first commit of an instance holds its start position alone
CRASHES = (
    "before_position:1",
    "position_sent:1",
    "committed:1",
    "before_position:3",
    "position_sent:2",
    "committed:2",
)
NEVER = "never:0"


def test_a_crash_at_any_step_of_a_commit_loses_nothing_and_repeats_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    file, offset = binlog_end(mariadb)
    installation = new_installation(
        mariadb, kafka, start={"at": "position", "journal_name": file, "position": offset}
    )
    name = installation.name
    with (
        CountingLoad(mariadb, name) as load,
        RelayProcess(installation, module=CRASHING, ROMA_CRASH=START_COMMITTED) as relay,
    ):
        relay.wait_for_crash()
        for point in CRASHES:
            relay.start(ROMA_CRASH=point)
            relay.wait_for_crash()
        for after_ms in ("0.3", "1", "3"):
            relay.start(ROMA_CRASH="commit_under_way:2", ROMA_CRASH_AFTER_MS=after_ms)
            relay.wait_for_crash()
        relay.start(ROMA_CRASH=NEVER)
        load.end()
        relay.wait_for("RUNNING")
        end = binlog_end(mariadb)
        wait_until(
            lambda: published_end(installation) >= end,
            f"the end of the binlog, {end}: {installation.status()}",
        )
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)


def test_only_uncommitted_readers_see_what_a_crash_left_behind(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation, module=CRASHING, ROMA_CRASH="position_sent:2") as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a'), (2, 1, 'b')")
        relay.wait_for_crash()
        assert ids(read_topic(kafka.bootstrap, name)) == []
        assert ids(read_topic(kafka.bootstrap, name, isolation="read_uncommitted")) == ["1", "2"]
        relay.start(ROMA_CRASH=NEVER)
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 2, "both rows")
    assert ids(read_topic(kafka.bootstrap, name)) == ["1", "2"]
    assert ids(read_topic(kafka.bootstrap, name, isolation="read_uncommitted")) == [
        "1",
        "1",
        "2",
        "2",
    ]


def ids(seen: list[Seen]) -> list[str]:
    return sorted((each.value or {})["data"][0]["id"] for each in seen)
