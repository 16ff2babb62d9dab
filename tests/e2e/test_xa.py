"""XA transactions: nothing of them is seen before their COMMIT, everything once behind it, whatever happens to the relay in between."""

from typing import Any

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
from tests.support.waiting import wait_until


def rows(kafka: Kafka, topic: str) -> list[tuple[str, str]]:
    """Ids and operations in the order of the pair."""
    seen = sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    assert len({each.order for each in seen}) == len(seen)
    found: list[dict[str, Any]] = [each.value or {} for each in seen]
    return [(each["type"], each["data"][0]["id"]) for each in found]


def prepare(database: SqlServer, xid: str, *changes: str) -> None:
    database.execute(f"xa start {xid}", *changes, f"xa end {xid}", f"xa prepare {xid}")


def test_rows_come_at_commit_and_never_at_rollback(database: SqlServer, kafka: Kafka, new_installation: NewInstallation) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    first, second, third, fourth = (f"'{name}','{word}',{number}" for number, word in enumerate(("a", "b", "c", ""), 1))
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        prepare(database, first, f"insert into {name}.t values (1, 1, 'first'), (2, 1, 'first')", f"update {name}.t set n = 2 where id = 2")
        prepare(database, second, f"insert into {name}.t values (3, 1, 'second')")
        prepare(database, third, f"insert into {name}.t values (4, 1, 'third')")
        database.execute(f"insert into {name}.t values (10, 1, 'between')")
        wait_until(lambda: rows(kafka, name) == [("INSERT", "10")], "the row between", 40)
        database.execute(f"xa rollback {second}")
        relay.kill()
        database.execute(f"insert into {name}.t values (11, 1, 'while down')")
        relay.start()
        wait_until(lambda: rows(kafka, name) == [("INSERT", "10"), ("INSERT", "11")], "the row while down", 40)
        database.execute(f"xa commit {first}", f"insert into {name}.t values (12, 1, 'behind')")
        committed = [("INSERT", "10"), ("INSERT", "11"), ("INSERT", "1"), ("INSERT", "2"), ("UPDATE", "2"), ("INSERT", "12")]
        wait_until(lambda: rows(kafka, name) == committed, "the first one", 40)
        relay.kill()
        database.execute(f"xa commit {third}")
        prepare(database, fourth, f"insert into {name}.t values (5, 1, 'fourth')")
        database.execute(
            f"xa commit {fourth}",
            f"xa start {fourth}",
            f"insert into {name}.t values (6, 1, 'one phase')",
            f"xa end {fourth}",
            f"xa commit {fourth} one phase",
        )
        relay.start()
        wait_until(lambda: rows(kafka, name) == [*committed, *(("INSERT", each) for each in ("4", "5", "6"))], "the rest", 40)


def test_a_commit_of_rows_that_were_never_read_is_a_stop(database: SqlServer, kafka: Kafka, new_installation: NewInstallation) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    prepare(database, f"'{name}'", f"insert into {name}.t values (1, 1, 'prepared')")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.t values (2, 1, 'before')")
        wait_until(lambda: rows(kafka, name) == [("INSERT", "2")], "the row before", 40)
        database.execute(f"xa commit '{name}'")
        status = relay.wait_for("STOPPED", "PREPARED_UNKNOWN")
        assert "skip" in status.remedy
        assert rows(kafka, name) == [("INSERT", "2")]
