"""Field lists, conditions, masks, transforms and several topics: from the settings to what
consumers see, on real servers.
"""

import hmac
import tomllib
from pathlib import Path
from typing import Any

import orjson
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.transform_package import FUNCTIONS, install
from tests.support.waiting import wait_until

CRASHING = "tests.support.faults.crashing_relay"
SALT = "a salt of more than sixteen characters"
RULES = [
    {"tables": ".*\\.customer", "without_fields": ["note"]},
    {
        "tables": ".*\\.purchase",
        "operations": ["INSERT", "UPDATE"],
        "where": "state <> 'draft' and price >= 10",
    },
]
MASKS = [
    {"columns": ".*\\.customer\\.(id|email)", "method": "hash", "salt": SALT},
    {"columns": ".*\\.customer\\.phone", "method": "truncate", "length": 3},
    {"columns": ".*\\.customer\\.born", "method": "replace"},
]
PURCHASES = (
    "id int primary key, customer int, state enum('draft', 'paid'), price decimal(8,2), `lines` "
    "varchar(10)"
)


def hashed(text: str) -> str:
    return hmac.new(SALT.encode(), text.encode(), "sha256").hexdigest()


def rows(seen: list[Seen], table: str) -> list[tuple[str, dict[str, Any]]]:
    """Kind and row of each message of a table, in the order of the pair."""
    found = [
        (each, each.value)
        for each in sorted(seen, key=lambda each: each.order)
        if each.value is not None
    ]
    return [
        (value["type"], value["data"][0])
        for _, value in found
        if value["table"] == table and value["data"]
    ]


def seen(kafka: Kafka, topic: str) -> list[Seen]:
    return read_topic(kafka.bootstrap, topic) if topic_answers(kafka.bootstrap, topic) else []


def test_rows_are_what_rules_and_masks_leave_of_them(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka, rules=RULES, masks=MASKS)
    name = installation.name
    customers = (
        "id int primary key, email varchar(60), phone varchar(20) character set latin1, born date, "
        "city varchar(20), note text"
    )
    database.execute(
        f"create table {name}.customer ({customers})", f"create table {name}.purchase ({PURCHASES})"
    )
    installation.map(tags=[{"logicTb": "customer,note,email", "tag": "customer,of-note,of-email"}])
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {name}.customer values (1, 'ann@example.org', '0171555', '1990-01-31', "
            f"'Köln', 'likes tea')",
            f"insert into {name}.customer (id, note) values (2, 'likes nothing')",
            f"update {name}.customer set note = 'likes coffee'",
            f"update {name}.customer set email = 'ann@example.net' where id = 1",
            (
                f"insert into {name}.purchase values (1, 1, 'paid', 10, '1'), (2, 1, 'draft', "
                f"99, '1'), (3, 1, 'paid', 9.99, '1')"
            ),
            f"insert into {name}.purchase values (4, 1, null, 99, '1')",
            f"update {name}.purchase set state = 'paid' where id = 2",
            f"update {name}.purchase set price = 1 where id = 1",
            f"delete from {name}.purchase",
            f"insert into {name}.t values (1, 1, 'the last')",
        )
        wait_until(lambda: len(rows(seen(kafka, name), "t")) == 1, "the last row")
        wait_until(
            lambda: scrape(relay).get("roma_dropped_rows_total,rule_operation") == 4, "the counts"
        )
        counted = scrape(relay)
    messages = read_topic(kafka.bootstrap, name)
    first = {
        "id": hashed("1"),
        "email": hashed("ann@example.org"),
        "phone": "017",
        "born": None,
        "city": "Köln",
    }
    other = {"id": hashed("2"), "email": None, "phone": None, "born": None, "city": None}
    changed = {**first, "email": hashed("ann@example.net")}
    assert rows(messages, "customer") == [("INSERT", first), ("INSERT", other), ("UPDATE", changed)]
    assert [(kind, row["id"], row["price"]) for kind, row in rows(messages, "purchase")] == [
        ("INSERT", "1", "10.00"),
        ("INSERT", "2", "99.00"),
        ("DELETE", "1", "10.00"),
    ]
    assert {each.tags for each in messages if b".customer" in (each.key or b"")} == {
        ("customer", "of-email")
    }
    (update,) = [each for each in messages if (each.value or {}).get("type") == "UPDATE"]
    assert update.key == orjson.dumps([f"{name}.customer", hashed("1")])
    assert (update.value or {})["old"] == [{"email": hashed("ann@example.org")}]
    assert (update.value or {})["mysqlType"]["email"] == "varchar(64)"
    assert counted["roma_dropped_rows_total,rule_fields"] == 2
    assert counted["roma_dropped_rows_total,rule_condition"] == 3
    assert not any(word in repr(messages) for word in ("ann@", "0171", "1990", "likes"))


def test_a_transform_makes_lines_of_orders_and_a_row_that_it_cannot_take_waits(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(database, kafka, oversize="dead_letter")
    name = installation.name
    database.execute(
        f"create table {name}.purchase ({PURCHASES})",
        f"create table {name}.customer (id int primary key, city varchar(20))",
    )
    installation.map(tbs=[{"logicTb": "orders", "realTbs": "purchase"}])
    rewrite(installation.file, transformed(name))
    with RelayProcess(installation, PYTHONPATH=install(tmp_path / "site")) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {name}.customer values (7, 'Köln')",
            (
                f"insert into {name}.purchase values (1, 7, 'paid', 1.5, '2'), (2, 7, 'paid', 2, "
                f"'none'), (3, 8, 'paid', 3, '1')"
            ),
            f"insert into {name}.purchase values (4, 7, 'paid', 4, '0')",
            f"update {name}.purchase set id = 5 where id = 1",
        )
        wait_until(lambda: len(rows(seen(kafka, name), "orders")) == 7, "the lines")
        wait_until(
            lambda: relay.wait_for("RUNNING").dead_letters == 1, "the status of one dead letter"
        )
        wait_until(
            lambda: relay.wait_for("RUNNING").dropped_rows == {"transform": 1},
            "the order without lines",
        )
    messages = read_topic(kafka.bootstrap, name)
    lines = [
        (kind, row["id"], row["line"], row["city"], row["price"])
        for kind, row in rows(messages, "orders")
    ]
    assert lines == [
        ("INSERT", "1", "1", "Köln", "1.50"),
        ("INSERT", "1", "2", "Köln", "3.00"),
        ("INSERT", "3", "1", None, "3.00"),
        ("DELETE", "1", "1", "Köln", "1.50"),
        ("INSERT", "5", "1", "Köln", "1.50"),
        ("DELETE", "1", "2", "Köln", "3.00"),
        ("INSERT", "5", "2", "Köln", "3.00"),
    ]
    orders = [each.order for each in sorted(messages, key=lambda each: each.order)]
    assert len(set(orders)) == len(orders)
    assert {each.key for each in messages if b".orders" in (each.key or b"")} >= {
        orjson.dumps([f"{name}.orders", "1", "2"])
    }
    listed = CliRunner().invoke(
        app,
        ["dead-letter", "list", "--config", str(installation.file), "--instance", "shop", "--json"],
    )
    (letter,) = map(orjson.loads, listed.output.splitlines())
    assert (letter["code"], letter["real"]) == ("TRANSFORM_FAILED", f"{name}.purchase")


def test_a_transform_that_fails_stops_the_instance_and_goes_on_where_it_stood(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    mariadb.execute(
        f"create table {name}.purchase ({PURCHASES})",
        f"create table {name}.customer (id int primary key, city varchar(20))",
    )
    rewrite(installation.file, transformed(name, "purchase"))
    path = install(tmp_path / "site", FUNCTIONS.replace("int(", "float("))
    with RelayProcess(installation, PYTHONPATH=path) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'before')",
            f"insert into {name}.purchase values (1, 7, 'paid', 1.5, '2')",
        )
        stopped = relay.wait_for("STOPPED", "TRANSFORM_FAILED")
        assert "order_lines failed" in stopped.reason
        assert "TypeError" in stopped.reason
        relay.stop()
        install(tmp_path / "site")
        relay.start()
        wait_until(lambda: len(rows(seen(kafka, name), "purchase")) == 2, "both lines")
    messages = read_topic(kafka.bootstrap, name)
    assert [kind for kind, _ in rows(messages, "t")] == ["INSERT"]
    assert [row["line"] for _, row in rows(messages, "purchase")] == ["1", "2"]


def test_one_change_to_two_topics_is_one_transaction(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, masks=[{"columns": ".*\\.t\\.v", "method": "replace", "value": "***"}]
    )
    name = installation.name
    topics = (name, f"{name}-second")
    installation.map(
        topics=[{"logicDb": name, "topic": ",".join(topics)}],
        dbs=[{"logicDb": name, "realDbs": name}],
    )
    with RelayProcess(installation, module=CRASHING, ROMA_CRASH="position_sent:2") as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a'), (2, 1, 'b')")
        relay.wait_for_crash()
        assert [rows(read_topic(kafka.bootstrap, topic), "t") for topic in topics] == [[], []]
        assert [
            len(read_topic(kafka.bootstrap, topic, isolation="read_uncommitted"))
            for topic in topics
        ] == [2, 2]
        relay.start(ROMA_CRASH="never:0")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 2, "both rows")
    one, other = (
        [(each.order, each.key, each.value) for each in read_topic(kafka.bootstrap, topic)]
        for topic in topics
    )
    assert one == other
    assert [value["data"][0]["v"] for _, _, value in one if value is not None] == ["***", "***"]


def test_statements_are_withheld_where_values_are_masked(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, masks=[{"columns": ".*\\.t\\.v", "method": "replace"}]
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            "set session binlog_format = 'STATEMENT'",
            f"use {name}",
            f"insert into {name}.t values (1, 1, 'a secret')",
        )
        wait_until(lambda: len(seen(kafka, f"{name}.ddl")) == 1, "the statement")
    (statement,) = read_topic(kafka.bootstrap, f"{name}.ddl")
    value = statement.value or {}
    assert (value["type"], value["table"], value["isDdl"]) == ("QUERY", "t", False)
    assert value["sql"].startswith("/* withheld")
    assert "secret" not in repr(value)


def transformed(name: str = "", table: str = "orders") -> dict[str, Any]:
    """The settings by which orders become lines."""
    lookup = {
        "name": "city",
        "query": f"select city from {name}.customer where id = %s",
        "cache_seconds": 0,
    }
    adds = {"line": "bigint", "city": "varchar(20)"}
    transform = {
        "table": f"{name}.{table}",
        "function": "order_lines",
        "lookups": ["city"],
        "adds": adds,
        "key": ["id", "line"],
    }
    return {"transforms": [transform], "lookups": [lookup]}


def rewrite(file: Path, instance: dict[str, Any]) -> None:
    """Add these settings to the instance of a configuration file."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    document["instances"][0].update(instance)
    file.write_text(tomli_w.dumps(document), encoding="utf-8")
