"""Source transactions of unusual shape: rows that travel with their DDL, in one compressed event,
or changing their own keys.
"""

from typing import Any

from deploy.embedded import Kafka, MySQL, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


def settled(kafka: Kafka, topic: str, messages: int) -> list[Seen]:
    """The topic in the order of the pair, once it holds so many messages; more are an error."""
    wait_until(lambda: len(read_topic(kafka.bootstrap, topic)) >= messages, f"{messages} messages")
    seen = read_topic(kafka.bootstrap, topic)
    assert len(seen) == messages
    return sorted(seen, key=lambda each: each.order)


def row(seen: Seen) -> dict[str, Any]:
    assert seen.value is not None
    values: dict[str, Any] = seen.value["data"][0]
    return values


def test_create_table_select_gives_its_ddl_and_its_rows_once(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {name}.t values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')",
            f"create table {name}.copied (primary key (id)) select id, n from {name}.t",
            f"update {name}.copied set n = 21 where id = 2",
        )
        seen = [
            each
            for each in settled(kafka, name, 7)
            if each.value and each.value["table"] == "copied"
        ]
        [ddl] = settled(kafka, f"{name}.ddl", 1)
    assert ddl.value is not None
    assert (ddl.value["type"], ddl.value["table"], ddl.value["isDdl"]) == ("CREATE", "copied", True)
    assert ddl.order < seen[0].order
    assert [(each.value or {})["type"] for each in seen] == ["INSERT", "INSERT", "INSERT", "UPDATE"]
    assert [(row(each)["id"], row(each)["n"]) for each in seen] == [
        ("1", "10"),
        ("2", "20"),
        ("3", "30"),
        ("2", "21"),
    ]


def test_ten_thousand_rows_of_one_compressed_transaction_keep_their_order(
    mysql_9: MySQL, kafka: Kafka, new_installation: NewInstallation
) -> None:
    rows = 10_000
    installation = new_installation(mysql_9, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        numbers = (
            f"with recursive c(i) as (select 1 union all select i + 1 from c where i < {rows}) "
            f"select i, i, 'v' from c"
        )
        mysql_9.execute(
            "set session binlog_transaction_compression = on",
            f"set session cte_max_recursion_depth = {rows}",
            f"insert into {name}.t {numbers}",
        )
        assert "Transaction_payload" in event_names(mysql_9)
        seen = settled(kafka, name, rows)
    assert [int(row(each)["id"]) for each in seen] == list(range(1, rows + 1))
    assert len({each.order for each in seen}) == rows


def event_names(database: MySQL) -> set[str]:
    """The kinds of events in the newest binlog file."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show binary log status")
        newest = cursor.fetchone()
        assert newest is not None
        cursor.execute(f"show binlog events in '{newest[0]}'")
        return {str(event[2]) for event in cursor.fetchall()}


def test_a_copy_folded_by_the_greatest_pair_equals_the_table_after_keys_moved(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            "begin",
            (
                f"insert into {name}.t values "
                f"{','.join(f'({number}, {number * 10}, null)' for number in range(1, 21))}"
            ),
            f"update {name}.t set id = id + 1 order by id desc",
            f"delete from {name}.t where id = 7",
            f"update {name}.t set id = id - 1 where id < 7 order by id",
            f"insert into {name}.t values (7, 0, 'again')",
            "commit",
        )
        seen = settled(kafka, name, 20 + 2 * 20 + 1 + 2 * 5 + 1)
    assert len({each.order for each in seen}) == len(seen)
    newest = {each.key: each for each in seen}
    copy = {
        (row(each)["id"], row(each)["n"], row(each)["v"])
        for each in newest.values()
        if (each.value or {})["type"] != "DELETE"
    }
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select cast(id as char), cast(n as char), v from {name}.t")
        assert copy == set(cursor.fetchall())
