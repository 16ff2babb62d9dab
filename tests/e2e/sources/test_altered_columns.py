"""Hidden, generated and period columns are added, moved and dropped while rows flow: each message
has the columns and values that a SELECT shows.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from deploy.embedded import Kafka, MySQL, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.source_reading import ask
from tests.support.waiting import wait_until

HIDDEN_AND_GENERATED: Final = (
    "add column h int {invisible} default 7",
    "add column g int generated always as (n * 2) virtual first",
    "add column s int generated always as (n + 1) stored after id",
    "modify h int {invisible} default 7 first",
    "modify h int {visible} default 7 after a",
    "modify g int generated always as (n * 2) virtual after n",
    "drop column g, add column k varchar(9) {invisible} default 'x' after id",
    "modify s int generated always as (n + 1) stored first, drop column h",
    "add column g varchar(9) generated always as (concat(a, '!')) stored {invisible} first",
    "drop column s, modify k varchar(19) {invisible} default 'y' first",
)
VERSIONED: Final = (
    "add system versioning",
    "add column z int default 3 after id",
    "add column v int generated always as (n - 1) virtual first",
    "modify z int invisible default 3 first",
    "drop column z, modify k varchar(29) invisible default 'z' after a",
    "drop system versioning",
    (
        "add column e timestamp(6) generated always as row end invisible first, "
        "add column b timestamp(6) generated always as row start invisible after n, "
        "add period for system_time(b, e), add system versioning"
    ),
    "add column y int default 4 after id",
    "drop column v, modify y int invisible default 5 first",
)
_PERIOD: Final = {"row_start", "row_end", "b", "e"}


def server_of(name: str, request: pytest.FixtureRequest) -> SqlServer:
    """A shared server, or one that logs no names of columns."""
    if "names" not in name:
        shared: SqlServer = request.getfixturevalue(name)
        return shared
    start: Callable[..., SqlServer] = request.getfixturevalue(
        "new_mysql" if "mysql" in name else "new_mariadb"
    )
    return start({"binlog_row_metadata": "MINIMAL"})


def row_of(database: SqlServer, name: str, number: int) -> dict[str, str | None]:
    """A row with all its columns, hidden ones too, as texts."""
    columns = [
        column
        for (column,) in ask(
            database,
            "select column_name from information_schema.columns where table_schema = "
            f"'{name}' and table_name = 'x'",
        )
        if column not in _PERIOD
    ]
    texts = ", ".join(f"cast(`{column}` as char)" for column in columns)
    (found,) = ask(database, f"select {texts} from {name}.x where id = {number}")
    return dict(zip(columns, found, strict=True))


def alter(database: SqlServer, name: str, steps: tuple[str, ...]) -> list[dict[str, str | None]]:
    """Apply the steps; change a row and insert one after each. Return these rows in this order."""
    rows = []
    for number, step in enumerate(steps, 100):
        mysql = isinstance(database, MySQL)
        words = {"invisible": "invisible", "visible": "visible" if mysql else ""}
        database.execute(
            "set @@system_versioning_alter_history = keep" if not mysql else "select 1",
            f"alter table {name}.x {step.format(**words)}",
            f"update {name}.x set n = n + 1 where id = 1",
            f"insert into {name}.x (id, a, n) values ({number}, 'a{number}', {number})",
        )
        rows += [row_of(database, name, 1), row_of(database, name, number)]
    return rows


def shown(seen: Seen) -> dict[str, str | None]:
    row: Mapping[str, Any] = (seen.value or {})["data"][0]
    return {column: value for column, value in row.items() if column not in _PERIOD}


@pytest.mark.parametrize(
    ("server", "lags"),
    [
        ("mariadb", True),
        *(
            pytest.param(server, lags, marks=pytest.mark.long)
            for server in ("mariadb_10_11", "mysql_9", "without names", "mysql without names")
            for lags in (False, True)
        ),
    ],
)
def test_messages_have_the_columns_and_values_of_a_select(
    server: str,
    lags: bool,
    kafka: Kafka,
    new_installation: NewInstallation,
    request: pytest.FixtureRequest,
) -> None:
    """`lags`: the relay reads the changes after the last of them."""
    database = server_of(server, request)
    installation = new_installation(database, kafka)
    name = installation.name
    steps: tuple[str, ...] = HIDDEN_AND_GENERATED
    if not isinstance(database, MySQL):
        # Declared times are no names that a history of statements gives.
        steps += VERSIONED[:6] if "names" in server else VERSIONED
    database.execute(f"create table {name}.x (id int primary key, a varchar(20), n int)")

    def current() -> list[Seen]:
        found = read_topic(kafka.bootstrap, name)
        rows = [
            each for each in found if (each.value or {})["table"] == "x" and each.history is None
        ]
        return sorted(rows, key=lambda each: each.order)

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.x values (1, 'one', 1)")
        wait_until(lambda: len(current()) == 1, "the first row")
        if lags:
            relay.stop()
        expected = alter(database, name, steps)
        if lags:
            relay.start()
        wait_until(lambda: len(current()) >= 1 + len(expected), "all rows")
    assert [shown(each) for each in current()[1:]] == expected
