"""`roma backup` and `roma restore`: ZooKeeper loses everything, and the stream goes on as if it had
not.
"""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.audit import AuditTrail
from relay.cli import app
from relay.operations import highest_recorded_set
from relay.state import DocumentStore, MappingStore, Note, Paths, StoredSet, SwitchNote
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.zookeeper_sessions import session_with, wipe
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def test_after_a_wipe_and_a_restore_nothing_is_lost_or_repeated_and_numbers_rise(
    mariadb: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    installation = new_installation(mariadb, kafka)
    name, folder = installation.name, tmp_path / "backup"
    paths = Paths.of(installation.settings.zookeeper, name)

    def roma(*arguments: str) -> int:
        return CliRunner().invoke(app, [*arguments, "--config", str(installation.file)]).exit_code

    def published(number: int) -> bool:
        return len(read_topic(kafka.bootstrap, name)) >= number

    with session_with(zookeeper.hosts) as session, RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: published(1), "the first row")
        for failover in installation.failover, installation.failover.of_source("second"):
            failover.change_orders("shop", lambda standing: replace(standing, hold=True))
            failover.note_switch("shop", SwitchNote(1, "standby"))
        assert roma("backup", str(folder)) == 0
        assert json.loads((folder / "mappings" / "pointer.json").read_text())["json"]["set"] == 1
        assert relay.stop() == 0
        before = DocumentStore(session, paths, name).take().nodes
        wipe(session, paths.base)
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")

        assert roma("restore", str(folder), "--yes", "somebody else") == 1
        assert not session.exists(paths.base)
        assert roma("restore", str(folder), "--yes", name) == 0
        after = DocumentStore(session, paths, name).take().nodes
        # The relay lists the tables that it has met some time after it met them; the backup may be
        # older.
        assert {**before, "instances/shop/tables": b""} == {**after, "instances/shop/tables": b""}
        for failover in installation.failover, installation.failover.of_source("second"):
            assert (failover.orders("shop").hold, len(failover.history("shop"))) == (False, 1)
        relay.start()
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        wait_until(lambda: published(3), "the rows behind the wipe")
        assert sorted(
            (each.value or {})["data"][0]["id"] for each in read_topic(kafka.bootstrap, name)
        ) == ["1", "2", "3"]

        store = MappingStore(session, paths)
        current = store.current()
        store.save(current, {**current.bodies, "com.pajk.Roma.tags": "[]"}, Note("test"))
        assert roma("restore", str(folder), "--yes", name) == 1
        assert store.number() == 2
        assert roma("restore", str(folder), "--over-present", "--yes", name) == 0
        # A number is never used twice: markers and subscriptions compare them.
        assert (store.number(), store.current().bodies) == (3, current.bodies)

        mariadb.execute(f"insert into {name}.t values (4, 0, '')")
        wait_until(lambda: published(4), "a row under the new set")
        wait_until(lambda: highest_recorded_set(installation.settings) == 3, "its record")
        assert relay.stop() == 0
        wipe(session, paths.base)
        assert roma("restore", str(folder), "--yes", name) == 0
        assert (store.number(), store.current().bodies) == (4, current.bodies)
        relay.start()
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (5, 0, '')")
        wait_until(lambda: highest_recorded_set(installation.settings) == 4, "the next record")
        assert relay.stop() == 0
        wipe(session, paths.base)
        after_a_loss = MappingStore(
            session, paths, partial(highest_recorded_set, installation.settings)
        )
        assert after_a_loss.save(StoredSet.empty(), current.bodies, Note("test")).number == 5
    entries = AuditTrail(installation.settings.kafka, name).entries(10)
    assert "mappings/pointer" in str(entries[2].before["first_that_differ"])
    assert entries[4].before == {"documents": 0, "differ": 0, "first_that_differ": []}
    assert [entry.act for entry in entries] == ["restore", "restore.begun"] * 3
