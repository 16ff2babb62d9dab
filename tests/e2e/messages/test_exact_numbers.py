"""Numbers whose text the binlog does not hold print as the server prints them."""

import json

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

COLUMNS = {
    "f2": ("float(7,3)", "1234.567"),
    "d2": ("double(20,5)", "123456789012.34567"),
    "z": ("int(7) unsigned zerofill", "42"),
    "big": ("bigint zerofill", "7"),
    "n": ("decimal(8,2) zerofill", "3.5"),
    "plain": ("int unsigned", "5"),
    "f": ("float", "1.5"),
}
FLOAT_KEYS = ("16777218", "16777220", "0.1")
"""The server prints the first two alike."""


@pytest.mark.parametrize("known", ["from the catalogue", "from the stream"])
def test_decimals_and_zeros(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation, known: str
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    create = (
        f"create table {name}.numbers (id int primary key, "
        f"{', '.join(f'{c} {kind}' for c, (kind, _) in COLUMNS.items())})"
    )
    floats = f"create table {name}.floats (f float primary key, n int)"
    if known == "from the catalogue":
        database.execute(create, floats)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        if known == "from the stream":
            database.execute(create, floats)
        database.execute(
            f"insert into {name}.floats values {', '.join(f'({key}, 1)' for key in FLOAT_KEYS)}"
        )
        database.execute(f"delete from {name}.floats where f > 16777219")
        database.execute(
            f"insert into {name}.numbers values (1, "
            f"{', '.join(value for _, value in COLUMNS.values())})"
        )
        wait_until(
            lambda: installation.status() is not None and installation.status().published_rows > 0,  # type: ignore[union-attr]
            "the row",
        )
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == len(FLOAT_KEYS) + 2,
            "the messages",
        )
    *keyed, seen = sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)
    assert [json.loads(each.key or b"null") for each in keyed] == [
        [f"{name}.floats", key] for key in (*FLOAT_KEYS, "16777220")
    ]
    assert [(each.value or {})["data"][0]["f"] for each in keyed] == [
        "16777200",
        "16777200",
        "0.1",
        "16777200",
    ]
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            f"select {', '.join(f'cast({c} as char)' for c in COLUMNS)} from {name}.numbers"
        )
        printed = cursor.fetchone()
    assert seen.value is not None
    assert [seen.value["data"][0][column] for column in COLUMNS] == list(printed or ())
