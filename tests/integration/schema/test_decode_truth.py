"""Rows decoded from real servers' binlogs, against what the servers say that their tables hold."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from relay.charsets.collations import charset_of_collation
from relay.decode import RowDecoder
from relay.errors import CorruptEvent
from relay.model.change import RowsEvent
from relay.model.row_path import SlowReason
from relay.model.value import JsonDocument, Row, Value
from tests.servers.fixtures import EVERY_SERVER
from tests.support.rows.row_events import BinlogConnection
from tests.support.rows.table_plans import table_definition
from tests.support.rows.type_zoo import FIRST_SECOND, TableTruth, replay, truths
from tests.support.rows.zoo_rows import CanonicalRow, apply, canonical_truth, json_text
from tests.unit.pipeline.messages.test_bulk_rows import in_bulk, needs_compiled_code, plan_of

# Statements after which the table holds what the binlog never says (rolled back before it was
# logged, logged as text, or not at all), and the first statements behind them.
_NOT_IN_THE_BINLOG = frozenset({325, 330, 332, 333, 335, 342, 347, 358, 392, 393, 394, 396, 418})

_JSON_EXPRESSIONS = (
    *(
        "'5'",
        "'-5'",
        "'40000'",
        "'3000000000'",
        "'9223372036854775807'",
        "'18446744073709551615'",
        "'1.5'",
        "'1e100'",
        "'-0.0'",
    ),
    *(
        "'{}'",
        "'[]'",
        "'null'",
        '\'"a\\\\"b\\\\n\\\\u0001é😀"\'',
        '\'{"b":1,"a":[1,2,{"c":null}],"long":"x"}\'',
    ),
    "CAST(CAST('2024-01-02' AS DATE) AS JSON)",
    "CAST(CAST('0000-00-00' AS DATE) AS JSON)",
    "CAST(CAST('100:00:00.25' AS TIME(6)) AS JSON)",
    "CAST(CAST('-838:59:59' AS TIME) AS JSON)",
    "CAST(CAST('-00:00:01.5' AS TIME(3)) AS JSON)",
    "CAST(CAST('2024-01-02 03:04:05.6' AS DATETIME(6)) AS JSON)",
    "CAST(CAST(1.50 AS DECIMAL(10,2)) AS JSON)",
    "CAST(CAST(-12345678901234567890.123 AS DECIMAL(40,10)) AS JSON)",
    "CAST(x'00ff80' AS JSON)",
    "CAST(REPEAT(x'ab', 100) AS JSON)",
    "CAST(b'1010' AS JSON)",
    "CAST(CAST(2024 AS YEAR) AS JSON)",
    (
        "JSON_OBJECT('d', CAST('2024-01-02' AS DATE), 'x', x'ff', 'dec', 1.10, 'u', CAST(7 AS "
        "UNSIGNED), 't', true)"
    ),
    "JSON_ARRAY(REPEAT('x', 70000), 1, CAST(3000000000 AS UNSIGNED), -70000)",
    "JSON_OBJECT(REPEAT('k', 300), REPEAT('v', 200), 'i', 70000)",
    f"'{'[' * 100}{']' * 100}'",
)


class DatabaseServer(Protocol):
    """What these tests need of a running server."""

    @property
    def port(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def password(self) -> str: ...


class Session:
    """One server with an empty binlog: statements in, decoded row events out."""

    def __init__(self, server: DatabaseServer) -> None:
        self._server = server
        self.connection = self._connect()
        self.mariadb = "maria" in str(self.ask("SELECT VERSION()")[0][0]).lower()
        self.ask("RESET MASTER" if self.mariadb else "RESET BINARY LOGS AND GTIDS")

    def _connect(self) -> BinlogConnection:
        server = self._server
        return BinlogConnection(
            host="127.0.0.1",
            port=server.port,
            user=server.user,
            password=server.password,
            charset="utf8mb4",
            autocommit=True,
        )

    def ask(self, sql: str) -> tuple[tuple[Any, ...], ...]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return tuple(cursor.fetchall())

    def fresh_schema(self) -> None:
        for sql in (
            "DROP DATABASE IF EXISTS decode_check",
            "CREATE DATABASE decode_check CHARACTER SET utf8mb4",
            "USE decode_check",
        ):
            self.ask(sql)
        self.ask("SET sql_mode = ''")

    def events(self) -> list[RowsEvent]:
        decoder = RowDecoder()
        reader = self._connect()
        try:
            return [decoder.decode(raw) for raw in reader.row_events(mariadb=self.mariadb)]
        finally:
            reader.close()

    def inserted(self, table: str) -> list[Row]:
        return [
            change.after
            for event in self.events()
            if event.table.id.table == table
            for change in event.rows
            if change.after
        ]


@pytest.fixture
def session(database: DatabaseServer) -> Iterator[Session]:
    session = Session(database)
    yield session
    session.connection.close()


@EVERY_SERVER
def test_decoded_images_rebuild_every_table_of_the_zoo(session: Session) -> None:
    family = "mariadb" if session.mariadb else "mysql"
    replay(session.connection, family)
    events: dict[tuple[int, str], list[RowsEvent]] = defaultdict(list)
    for event in session.events():
        events[event.header_time_s - FIRST_SECOND, str(event.table.id)].append(event)
    held: dict[str, tuple[int, list[CanonicalRow]]] = {}
    differing = set()
    for truth in truths(family):
        name = f"{truth.database}.{truth.table}"
        since, rows = held.get(name, (0, []))
        rows = list(rows)
        for number in range(since + 1, truth.number + 1):
            for event in events[number, name]:
                apply(event, rows, truth.columns)
        held[name] = (truth.number, _expected(truth))
        if sorted(map(_as_text, rows)) != sorted(map(_as_text, held[name][1])):
            differing.add(truth.number)
    assert len(held) > 20
    assert differing == _NOT_IN_THE_BINLOG


def _expected(truth: TableTruth) -> list[CanonicalRow]:
    return [
        {name: canonical_truth(cell, truth.columns[name]) for name, cell in row.items()}
        for row in truth.rows
    ]


def _as_text(row: CanonicalRow) -> str:
    return repr(sorted(row.items()))


def test_binary_json_reads_as_the_server_prints_it(session: Session) -> None:
    if session.mariadb:
        pytest.skip("MariaDB's JSON is a text column")
    printed = _documents(session)
    rows = session.inserted("documents")
    assert len(rows) == len(_JSON_EXPRESSIONS)
    for number, document in rows:
        assert isinstance(document, JsonDocument)
        # Numbers of other spelling are the same number; decimals and dates are compared digit by
        # digit.
        assert json.loads(json_text(document.root), parse_float=_number) == json.loads(
            printed[number], parse_float=_number
        ), number


@needs_compiled_code
def test_compiled_code_prints_binary_json_as_the_server_does(session: Session) -> None:
    if session.mariadb:
        pytest.skip("MariaDB's JSON is a text column")
    printed = _documents(session)
    found: dict[Value, str] = {}
    for event in session.events():
        if event.table.id.table == "documents":
            plan = plan_of(table_definition(event.table))
            rows = in_bulk(event, plan, 0, packed=False)
            assert not isinstance(rows, SlowReason), f"the readable path had to print it: {rows}"
            (row,) = (json.loads(each.value or b"")["data"][0] for each in rows[1])
            found[int(row["id"])] = row["j"]
    assert found == printed


def _documents(session: Session) -> dict[Value, str]:
    """Insert one of each kind; return their texts by id."""
    session.fresh_schema()
    session.ask("CREATE TABLE documents (id INT AUTO_INCREMENT PRIMARY KEY, j JSON)")
    for expression in _JSON_EXPRESSIONS:
        session.ask(f"INSERT INTO documents (j) VALUES ({expression})")
    return dict(session.ask("SELECT id, CAST(j AS CHAR) FROM documents"))


def _number(text: str) -> str:
    return text if "e" not in text and len(text) < 17 else repr(float(text))


def test_vectors_multi_valued_indexes_and_empty_documents(session: Session) -> None:
    if session.mariadb:
        pytest.skip("types of MySQL")
    session.fresh_schema()
    session.ask("CREATE TABLE vectors (id INT PRIMARY KEY, v VECTOR(3))")
    session.ask("INSERT INTO vectors VALUES (1, TO_VECTOR('[1,2,3]')), (2, NULL)")
    session.ask(
        "CREATE TABLE indexed (id INT PRIMARY KEY, j JSON, a INT, KEY ((a + 1)), KEY "
        "((CAST(j->'$.z' AS UNSIGNED ARRAY))))"
    )
    session.ask("""INSERT INTO indexed VALUES (1, '{"z": [1, 2]}', 5)""")
    session.ask("CREATE TABLE forced (id INT PRIMARY KEY, j JSON NOT NULL)")
    session.ask("INSERT IGNORE INTO forced (id) VALUES (1)")
    assert session.inserted("vectors") == [
        (1, bytes.fromhex("0000803f0000004000004040")),
        (2, None),
    ]
    assert session.inserted("indexed") == [(1, JsonDocument({"z": [1, 2]}), 5)]
    assert session.inserted("forced") == [(1, JsonDocument(None))]


@EVERY_SERVER
def test_types_of_mariadb_alone(session: Session) -> None:
    if not session.mariadb:
        pytest.skip("types of MariaDB")
    session.fresh_schema()
    session.ask(
        "CREATE TABLE packed (id INT PRIMARY KEY, v VARCHAR(500) COMPRESSED, t TEXT COMPRESSED, "
        "b MEDIUMBLOB COMPRESSED)"
    )
    session.ask(
        "INSERT INTO packed VALUES (1, REPEAT('a', 400), REPEAT('é', 9000), REPEAT(x'00ff', "
        "40000)), (2, '', 'c', NULL)"
    )
    session.ask("CREATE TABLE addresses (id UUID PRIMARY KEY, i6 INET6, i4 INET4)")
    session.ask(
        "INSERT INTO addresses VALUES ('123e4567-e89b-12d3-a456-426655440000', '1::', '1.2.3.0')"
    )
    assert session.inserted("packed") == [
        (1, b"a" * 400, "é".encode() * 9000, b"\0\xff" * 40000),
        (2, b"", b"c", None),
    ]
    # Trailing zero bytes are not logged; Column.length says how many belong there.
    assert session.inserted("addresses") == [
        (bytes.fromhex("123e4567e89b12d3a456426655440000")[:14], b"\0\1", b"\1\2\3")
    ]


@EVERY_SERVER
def test_old_temporal_formats_of_mariadb(session: Session) -> None:
    if not session.mariadb:
        pytest.skip("MySQL 9 cannot write them")
    session.fresh_schema()
    session.ask("SET GLOBAL mysql56_temporal_format = OFF")
    try:
        session.ask("CREATE TABLE old (id INT PRIMARY KEY, t TIME, d DATETIME, s TIMESTAMP NULL)")
        session.ask("CREATE TABLE unmeasured (id INT PRIMARY KEY, d DATETIME(3))")
    finally:
        session.ask("SET GLOBAL mysql56_temporal_format = ON")
    session.ask("SET time_zone = '+00:00'")
    session.ask(
        "INSERT INTO old VALUES (1, '-12:34:56', '2024-01-02 03:04:05', '2024-01-02 03:04:05'), "
        "(2, 0, 0, 0)"
    )
    assert session.inserted("old") == [
        (1, "-12:34:56", "2024-01-02 03:04:05", "2024-01-02 03:04:05"),
        (2, "00:00:00", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
    ]
    session.ask("INSERT INTO unmeasured VALUES (1, '2024-01-02 03:04:05.678')")
    with pytest.raises(CorruptEvent, match=r"decode_check\.unmeasured"):
        session.events()


def test_names_keys_and_wide_tables(session: Session) -> None:
    session.fresh_schema()
    session.ask(
        "CREATE TABLE `we``ird\n名` (`c``1` INT, `ü` VARCHAR(9), b VARCHAR(50), PRIMARY KEY (`ü`, "
        "b(3), `c``1`))"
    )
    session.ask("INSERT INTO `we``ird\n名` VALUES (1, 'x', 'yyyy')")
    session.ask(f"CREATE TABLE wide ({', '.join(f'c{i} INT' for i in range(1000))})")
    session.ask("INSERT INTO wide (c0, c999) VALUES (1, 2)")
    session.ask(
        "CREATE TABLE parts (id INT PRIMARY KEY, n INT) PARTITION BY HASH (id) PARTITIONS 4"
    )
    session.ask("INSERT INTO parts VALUES (1, 1), (2, 2)")
    session.ask("UPDATE parts SET id = id + 10")
    named = next(event.table for event in session.events() if event.table.id.table == "we`ird\n名")
    assert [column.name for column in named.columns] == ["c`1", "ü", "b"]
    assert named.primary_key == (1, 2, 0)
    assert session.inserted("wide") == [(1, *[None] * 998, 2)]
    assert sorted(session.inserted("parts")) == [(1, 1), (2, 2), (11, 1), (12, 2)]


@EVERY_SERVER
def test_every_collation_of_the_server_is_known(session: Session) -> None:
    listed = session.ask(
        "SELECT id, character_set_name FROM information_schema.collations WHERE id IS NOT NULL"
    )
    if session.mariadb:
        listed += session.ask(
            "SELECT id, character_set_name FROM "
            "information_schema.collation_character_set_applicability"
        )
    known = {int(number): charset for number, charset in listed if charset is not None}
    assert len(known) > 200
    assert {number: charset_of_collation(number) for number in known} == known
