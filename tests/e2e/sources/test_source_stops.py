"""What happens on the source that nobody can publish: the instance stands still under a name, with
the way out, and stays there.
"""

from collections.abc import Callable
from time import time

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.state import InstanceStatus
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def ids(kafka: Kafka, topic: str) -> list[int]:
    return sorted(
        int((each.value or {})["data"][0]["id"]) for each in read_topic(kafka.bootstrap, topic)
    )


def assert_stays(relay: RelayProcess, status: InstanceStatus) -> None:
    """A stop is said once and nothing is tried again: no crash loop, and a restart comes to the
    same.
    """
    assert relay.log.read_text().count(status.code) == 1
    relay.stop()
    relay.start()
    relay.wait_for(status.state, status.code)


def test_a_reset_binlog_is_another_history(
    new_mariadb: Callable[..., MariaDB], kafka: Kafka, new_installation: NewInstallation
) -> None:
    reset_is_named(new_mariadb(), "reset master", kafka, new_installation)


def test_a_reset_binlog_of_mysql_is_another_history(
    new_mysql: Callable[..., MySQL], kafka: Kafka, new_installation: NewInstallation
) -> None:
    reset_is_named(new_mysql(), "reset binary logs and gtids", kafka, new_installation)


def reset_is_named(
    database: SqlServer, reset: str, kafka: Kafka, new_installation: NewInstallation
) -> None:
    began_s = int(time())
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.t values (1, 1, 'before')")
        wait_until(lambda: ids(kafka, name) == [1], "the row before")
        # The creation time of a binlog file has whole seconds. Two files of one second differ only
        # in their length, which is SOURCE_LOST_TRANSACTIONS.
        wait_until(lambda: int(time()) > began_s, "the next second")
        database.execute(reset, f"insert into {name}.t values (2, 1, 'after')")
        status = relay.wait_for("STOPPED", "HISTORY_CHANGED")
        assert "set a new position" in status.remedy
        # Grown again, the file holds the position's offset once more: that must not be taken for
        # the old place.
        database.execute(
            *(f"insert into {name}.t values ({number}, 1, 'after')" for number in range(3, 40))
        )
        assert_stays(relay, status)
        assert ids(kafka, name) == [1]
