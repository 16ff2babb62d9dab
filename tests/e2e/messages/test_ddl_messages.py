"""Statements as messages: where each mode puts them, alone in their transactions, in their place
among the rows.
"""

from typing import Any

import pytest

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.envelope import parse_renamed
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.waiting import wait_until

CASES = [
    ("mysql_9", "topic"),
    ("mariadb", "topic"),
    ("mariadb", "inline"),
    ("mysql_9", "barrier"),
    ("mariadb", "drop"),
]


def all_of(kafka: Kafka, name: str) -> list[Seen]:
    """The row topic and that of the statements, by order."""
    topics = [topic for topic in (name, f"{name}.ddl") if topic_answers(kafka.bootstrap, topic)]
    return sorted(
        (each for topic in topics for each in read_topic(kafka.bootstrap, topic)),
        key=lambda each: (each.order, each.partition),
    )


def values(seen: list[Seen]) -> list[dict[str, Any]]:
    return [each.value or {} for each in seen]


@pytest.mark.parametrize(("server", "mode"), CASES)
def test_ddl_is_where_its_mode_puts_it_and_alone(
    request: pytest.FixtureRequest,
    kafka: Kafka,
    new_installation: NewInstallation,
    server: str,
    mode: str,
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka, message={"ddl": mode})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {name}.t values (1, 1, 'before')",
            f"alter table {name}.t add column x int after id",
            f"insert into {name}.t values (2, 2, 2, 'after')",
            f"rename table {name}.t to {name}.t2",
            f"drop table {name}.t2",
            f"create table {name}.t (id int primary key)",
            f"insert into {name}.t values (3)",
        )
        wait_until(
            lambda: sum(each["type"] == "INSERT" for each in values(all_of(kafka, name))) == 3,
            "the rows",
        )
    seen = all_of(kafka, name)
    copies = {"topic": 1, "inline": 1, "barrier": 4, "drop": 0}[mode]
    statements = [each for each in seen if (each.value or {})["isDdl"]]
    assert [(each.value or {})["type"] for each in statements] == [
        kind for kind in ("ALTER", "RENAME", "ERASE", "CREATE") for _ in range(copies)
    ]
    assert {each.partition for each in statements} == {
        "topic": {0},
        "inline": {0},
        "barrier": {0, 1, 2, 3},
        "drop": set(),
    }[mode]
    if mode != "topic":
        assert not topic_answers(kafka.bootstrap, f"{name}.ddl")
    # The `id` counts Kafka transactions: a statement shares its own with its copies alone.
    numbers = [each["id"] for each in values(seen)]
    for statement in statements:
        assert [each["id"] for each in values(statements)].count(
            (statement.value or {})["id"]
        ) == copies
        assert numbers.count((statement.value or {})["id"]) == copies
    shape = [each["type"] for each in values(seen)]
    assert [kind for at, kind in enumerate(shape) if at == 0 or kind != shape[at - 1]] == (
        ["INSERT"]
        if mode == "drop"
        else ["INSERT", "ALTER", "INSERT", "RENAME", "ERASE", "CREATE", "INSERT"]
    )


def test_changes_logged_as_text_come_as_queries_in_their_place(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka, message={"ddl": "drop"})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {name}.t values (1, 1, 'row')",
            "set session binlog_format = statement",
            f"update {name}.t set n = 2",
            "set session binlog_format = mixed",
            f"insert into {name}.t values (2, 2, 'text')",
            f"insert into {name}.t values (3, 3, uuid())",
            "set session binlog_format = row",
            f"insert into {name}.t values (4, 4, 'row')",
        )
        wait_until(lambda: len(all_of(kafka, name)) >= 5, "five changes")
    seen = values(all_of(kafka, name))
    assert [each["type"] for each in seen] == ["INSERT", "QUERY", "QUERY", "INSERT", "INSERT"]
    assert [each["sql"] for each in seen[1:3]] == [
        f"update {name}.t set n = 2",
        f"insert into {name}.t values (2, 2, 'text')",
    ]
    assert [each["isDdl"] for each in seen] == [False] * 5
    assert len({seen[1]["id"], seen[2]["id"], seen[0]["id"], seen[3]["id"]}) == 4, (
        "each alone in its transaction"
    )


def test_an_alter_in_two_phases_is_one_statement_where_it_is_done(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'before')",
            "set session binlog_alter_two_phase = 1",
            f"alter table {name}.t add column x int first, algorithm = copy",
            f"insert into {name}.t values (2, 2, 2, 'after')",
        )
        wait_until(lambda: len(all_of(kafka, name)) >= 3, "two rows and a statement")
        with mariadb.connect() as connection, connection.cursor() as cursor:
            cursor.execute("show binary logs")
            newest = cursor.fetchall()[-1][0]
            cursor.execute(f"show binlog events in '{newest}'")
            logged = [str(row[5]) for row in cursor.fetchall()]
    assert [text for text in logged if "START ALTER" in text], "\n".join(logged[-12:])
    seen = values(all_of(kafka, name))
    assert [each["type"] for each in seen] == ["INSERT", "ALTER", "INSERT"]
    assert [list(each["data"][0]) for each in seen if each["data"]] == [
        ["id", "n", "v"],
        ["x", "id", "n", "v"],
    ]


RENAMES = (
    "rename column n to m",
    "change m k bigint",
    "rename column k to v, rename column v to k",  # a swap
    "change k a longtext, rename column v to k, add column x int",  # a chain
    "modify k int, drop column x",
)


@pytest.mark.parametrize("server", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_an_alter_tells_the_columns_that_it_renames(
    request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation, server: str
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka, message={"headers": "full"})
    name = installation.name
    rows = [f"insert into {name}.t (id) values ({number})" for number in range(len(RENAMES) + 1)]
    alters = [f"alter table {name}.t {each}" for each in RENAMES]
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            rows[0], *(each for pair in zip(alters, rows[1:], strict=True) for each in pair)
        )
        if server == "mariadb":
            database.execute(
                f"alter table {name}.t rename column if exists nothing to b",
                f"insert into {name}.t (id) values (9)",
            )
            rows += ["after a rename of no column"]
        wait_until(
            lambda: (
                sum(each["type"] == "INSERT" for each in values(all_of(kafka, name))) == len(rows)
            ),
            "the rows",
        )
    seen = all_of(kafka, name)
    names = [
        list((each.value or {})["data"][0])
        for each in seen
        if (each.value or {})["type"] == "INSERT"
    ]
    renamed = [each.renamed for each in seen if (each.value or {})["isDdl"]]
    assert renamed[: len(RENAMES)] == [
        '[{"new":"m","old":"n"}]',
        '[{"new":"k","old":"m"}]',
        '[{"new":"v","old":"k"},{"new":"k","old":"v"}]',
        '[{"new":"a","old":"k"},{"new":"k","old":"v"}]',
        "[]",
    ]
    assert renamed[len(RENAMES) :] == (
        ['[{"if_exists":true,"new":"b","old":"nothing"}]'] if server == "mariadb" else []
    )
    assert {each.renamed for each in seen if (each.value or {})["type"] == "INSERT"} == {None}
    # What the header tells is what the server did: the names of the row before become those of the
    # row after, each in its place.
    for before, text, after in zip(names, renamed[:4], names[1:], strict=False):
        new_names = {each.old: each.new for each in parse_renamed(text or "")}
        assert [new_names.get(each, each) for each in before] == [
            each for each in after if each != "x"
        ]
