"""Numbers whose text the binlog does not hold print as the server prints them."""

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
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


@pytest.mark.parametrize("known", ["from the catalogue", "from the stream"])
def test_decimals_and_zeros(database: SqlServer, kafka: Kafka, new_installation: NewInstallation, known: str) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    create = f"create table {name}.numbers (id int primary key, {', '.join(f'{c} {kind}' for c, (kind, _) in COLUMNS.items())})"
    if known == "from the catalogue":
        database.execute(create)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        if known == "from the stream":
            database.execute(create)
        database.execute(f"insert into {name}.numbers values (1, {', '.join(value for _, value in COLUMNS.values())})")
        wait_until(lambda: installation.status() is not None and installation.status().published_rows > 0, "the row", 30)  # type: ignore[union-attr]
        wait_until(lambda: bool(read_topic(kafka.bootstrap, name)), "the message", 30)
    [seen] = read_topic(kafka.bootstrap, name)
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select {', '.join(f'cast({c} as char)' for c in COLUMNS)} from {name}.numbers")
        printed = cursor.fetchone()
    assert seen.value is not None
    assert [seen.value["data"][0][column] for column in COLUMNS] == list(printed or ())
