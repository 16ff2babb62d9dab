"""Copies that the relay requests itself: at the first start, and after a purge that an operator
accepts.
"""

from collections.abc import Callable

from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.cli import app
from relay.position import KafkaPositionStore
from tests.e2e.conftest import NewInstallation
from tests.snapshots.commands import requests, roma, wait_for
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.purging import purged
from tests.support.waiting import wait_until


def test_all_tables_are_copied_at_the_first_start_and_after_a_loss_that_is_accepted(
    new_mariadb: Callable[..., MariaDB], kafka: Kafka, new_installation: NewInstallation
) -> None:
    database = new_mariadb({"slave_connections_needed_for_purge": 0})
    installation = new_installation(database, kafka, snapshot="when_needed")
    name = installation.name
    database.execute(*(f"insert into {name}.t values ({i}, {i}, 'v')" for i in range(1, 301)))
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: len(requests(installation)) == 1, "the first copy is requested")
        number = requests(installation)[0]["id"]
        assert number.startswith("initial-")
        assert wait_for(installation, number, "DONE")["rows"] == 300
        [entry] = AuditTrail(installation.settings.kafka, name).entries(1, "shop")
        assert (entry.act, entry.after["id"]) == ("snapshot.started", number)
        assert relay.stop() == 0
        database.execute(
            f"delete from {name}.t where id = 1",
            f"insert into {name}.t values (301, 1, 'purged')",
            "flush binary logs",
            "flush binary logs",
        )
        wait_until(lambda: purged(database), "the old binlogs purged")
        relay.start()
        relay.wait_for("STOPPED", "BINLOG_PURGED")
        assert len(requests(installation)) == 1

        # As after a kill between the record and the request: no relay runs, and none is there.
        relay.kill()
        moved = _pass_the_loss(installation, database)
        assert "All mapped tables are copied again (needed-" in moved
        assert "deleted" in moved
        database.execute(f"insert into {name}.t values (302, 1, 'live')")
        assert len(requests(installation)) == 1
        relay.start()
        wait_until(lambda: len(requests(installation)) == 2, "the second copy is requested")
        numbers = [each["id"] for each in requests(installation)]
        [number] = [each for each in numbers if each.startswith("needed-")]
        assert "deleted" in wait_for(installation, number, "DONE")["reason"]
        shown = {
            (each.value or {})["data"][0]["id"]
            for each in read_topic(kafka.bootstrap, name)
            if each.value is not None
        }
        assert shown == {str(i) for i in range(1, 303)}  # of the deleted row nobody can know
        relay.wait_for("RUNNING")


def test_a_pause_before_the_first_row_is_not_forgotten_with_zookeeper(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The copy waits for the source from its start: more than one thread always runs there."""
    installation = new_installation(
        mariadb, kafka, snapshot="initial", copying={"threads_running": 1}
    )
    store = KafkaPositionStore(installation.settings.kafka, installation.name, "shop")

    def is_noted() -> bool:
        record = store.read()
        return record is not None and any(each.paused for each in record.snapshots.values())

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: len(requests(installation)) == 1, "the copy is requested")
        number = requests(installation)[0]["id"]
        roma(installation, "pause", number)
        wait_until(is_noted, "the record knows of the pause")
        relay.kill()
        request = installation.snapshots.find("shop", number)
        assert request is not None
        installation.snapshots.delete(request)
        relay.start()
        wait_until(lambda: any(each["lost"] for each in requests(installation)), "a lost copy")
        assert installation.snapshots.find("shop", number) is None
        roma(installation, "cancel", number, "--instance", "shop")
        wait_until(lambda: not any(each["lost"] for each in requests(installation)), "forgotten")


def _pass_the_loss(installation: Installation, database: MariaDB) -> str:
    """Move the position to the end of the binlog, and return what is told."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show master status")
        [(file, offset, *_)] = cursor.fetchall()
    move = ["position", "set", "shop", "--file", file, "--offset", str(offset), "--yes", "shop"]
    done = CliRunner().invoke(app, [*move, "--config", str(installation.file)])
    assert done.exit_code == 0, done.output
    return done.output
