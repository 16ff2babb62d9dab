"""What logged statements mean, and which character set they are in."""

import pytest

from relay.model.positions.position import BinlogPosition
from relay.model.sql_mode import NO_MODE, SqlMode
from relay.source.events.query_event import Meaning, is_plain_begin, read_query
from tests.unit.source.binlog_bytes import query_body


@pytest.mark.parametrize(
    ("sql", "meaning", "name"),
    [
        ("BEGIN", Meaning.BEGIN, ""),
        ("COMMIT", Meaning.COMMIT, ""),
        ("commit /* xid=3 */", Meaning.COMMIT, ""),
        ("ROLLBACK", Meaning.ROLLBACK, ""),
        ("ROLLBACK TO `S p`", Meaning.ROLLBACK_TO, "s p"),
        ("rollback to savepoint x", Meaning.ROLLBACK_TO, "x"),
        ("ROLLBACK WORK TO SAVEPOINT `a``b`", Meaning.ROLLBACK_TO, "a`b"),
        ("SAVEPOINT `é`", Meaning.SAVEPOINT, "é"),
        ("RELEASE SAVEPOINT x", Meaning.RELEASE, "x"),
        ('SAVEPOINT "A b"', Meaning.SAVEPOINT, "a b"),
        ('ROLLBACK TO "a""b;"', Meaning.ROLLBACK_TO, 'a"b;'),
        ('RELEASE SAVEPOINT "`" ;', Meaning.RELEASE, "`"),
        ("SAVEPOINT [a]", Meaning.UNREADABLE, ""),
        ("SAVEPOINT `a", Meaning.UNREADABLE, ""),
        ("SAVEPOINT", Meaning.UNREADABLE, ""),
        ("SAVEPOINT/**/a", Meaning.UNREADABLE, ""),
        ("ROLLBACK TO SAVEPOINT 'a'", Meaning.UNREADABLE, ""),
        ("rollback to a b", Meaning.UNREADABLE, ""),
        ("ROLLBACK AND CHAIN", Meaning.UNREADABLE, ""),
        ("RELEASE SAVEPOINT a.b", Meaning.UNREADABLE, ""),
        ("ROLLBACKS()", Meaning.STATEMENT, ""),
        ("XA START X'31',X'',1", Meaning.XA, ""),
        ("XA END X'31',X'',1", Meaning.XA, ""),
        ("XA COMMIT X'31',X'',1", Meaning.XA, ""),
        ("XA ROLLBACK X'31',X'',1", Meaning.XA, ""),
        ("CREATE TABLE `t` (\n  `a` int\n) START TRANSACTION", Meaning.ATOMIC_CREATE, ""),
        ("CREATE TABLE t (a int) COMMENT 'START TRANSACTION'", Meaning.STATEMENT, ""),
        ("CREATE VIEW v AS SELECT 1", Meaning.STATEMENT, ""),
        ("BEGIN_OR_NOT()", Meaning.STATEMENT, ""),
        ("xal()", Meaning.STATEMENT, ""),
        ("", Meaning.STATEMENT, ""),
    ],
)
def test_meaning(sql: str, meaning: Meaning, name: str) -> None:
    query = read_query(memoryview(query_body(sql)), compressed=False)
    assert (query.meaning, query.name) == (meaning, name)


def test_a_savepoint_whose_bytes_are_no_text_cannot_be_told_from_others() -> None:
    body = query_body("SAVEPOINT `x`").replace(b"`x`", b"`\xff`")
    assert read_query(memoryview(body), compressed=False).meaning is Meaning.UNREADABLE


@pytest.mark.parametrize(
    "sql",
    ["BEGIN", "begin", "BEGIN ", "XBEGIN", "SELECT 'BEGIN", "/* x */ BEGIN", "COMMIT", "EGIN", ""],
)
def test_a_plain_begin_is_exactly_that(sql: str) -> None:
    assert is_plain_begin(memoryview(query_body(sql))) == (sql == "BEGIN")


def test_the_end_of_an_atomic_create_is_no_part_of_the_statement() -> None:
    query = read_query(
        memoryview(query_body("CREATE TABLE `t` (a int) START TRANSACTION")), compressed=False
    )
    assert query.text() == "CREATE TABLE `t` (a int)"


@pytest.mark.parametrize(
    ("collation", "raw", "text"),
    [(8, b"\xe9", "é"), (28, b"\xc4\xe3", "你"), (255, "é".encode(), "é"), (45, b"\xe9", "�")],
)
def test_text_is_read_in_the_character_set_of_its_session(
    collation: int, raw: bytes, text: str
) -> None:
    status = (
        b"\0\0\0\0\1"
        b"\1"
        + bytes(8)
        + b"\6\3std"
        + b"\3\1\0\1\0"
        + b"\4"
        + collation.to_bytes(2, "little")
        + bytes(4)
        + b"\x80abc"
    )
    body = query_body("DROP TABLE x", status=status).replace(b"DROP TABLE x", b"DROP TABLE " + raw)
    query = read_query(memoryview(body), compressed=False)
    assert query.text() == f"DROP TABLE {text}"
    assert query.sql_mode is NO_MODE
    assert query.database == "d"


@pytest.mark.parametrize("tail", [b"", b"\6\3std\3\1\0\1\0\4\x2d\0\x2d\0\x2d\0\x80abc"])
def test_the_mode_of_the_session_is_read_as_far_as_it_changes_texts(tail: bytes) -> None:
    bits = (
        1 << 2 | 1 << 9 | 1 << 20 | 1 << 22 | 1 << 32
    )  # also STRICT_TRANS_TABLES and TIME_TRUNCATE_FRACTIONAL
    body = query_body(
        "DROP TABLE x", status=b"\0\0\0\0\1" + b"\1" + bits.to_bytes(8, "little") + tail
    )
    query = read_query(memoryview(body), compressed=False)
    assert not query.failed
    assert query.sql_mode == SqlMode.ANSI_QUOTES | SqlMode.ORACLE | SqlMode.NO_BACKSLASH_ESCAPES


@pytest.mark.parametrize(
    ("collation", "charset"), [(45, "utf8mb4"), (8, "latin1"), (2300, "utf8mb3"), (4001, "")]
)
def test_the_character_set_of_databases_that_name_none_is_the_third_of_the_sessions(
    collation: int, charset: str
) -> None:
    status = (
        b"\0\0\0\0\1"
        b"\1" + bytes(8) + b"\6\3std" + b"\4\x2d\0\x2d\0" + collation.to_bytes(2, "little")
    )
    query = read_query(memoryview(query_body("CREATE DATABASE x", status=status)), compressed=False)
    assert query.statement(0, BinlogPosition("b.1", 4)).server_charset == charset


def test_an_error_number_says_that_the_statement_failed() -> None:
    body = bytearray(query_body("CREATE OR REPLACE TABLE x (a INT)"))
    body[9:11] = (1170).to_bytes(2, "little")
    assert read_query(memoryview(bytes(body)), compressed=False).failed
