"""The columns that statements rename, read from their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.envelope import ColumnRename, parse_renamed, renamed_text
from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.sql_mode import NO_MODE, SqlMode
from relay.schema import column_renames


def renames(sql: str, sql_mode: SqlMode = NO_MODE) -> list[str] | None:
    found = column_renames(Statement(sql, "d", 0, BinlogPosition("b", 4), sql_mode))
    return (
        None
        if found is None
        else [f"{old}>{new}{'?' if if_exists else ''}" for old, new, if_exists in found]
    )


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("ALTER TABLE t RENAME COLUMN a TO b", ["a>b"]),
        ("alter table x.t change a b int", ["a>b"]),
        (
            (
                "ALTER TABLE t CHANGE COLUMN a b DECIMAL(5,2) DEFAULT 1 COMMENT 'x, CHANGE c d' "
                "AFTER c, ADD e INT"
            ),
            ["a>b"],
        ),
        ("ALTER TABLE t CHANGE a a BIGINT, MODIFY b INT", []),
        ("ALTER TABLE t CHANGE a A BIGINT", ["a>A"]),
        ("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a", ["a>b", "b>a"]),
        ("ALTER TABLE t CHANGE a b INT, CHANGE b c INT", ["a>b", "b>c"]),
        ("ALTER TABLE t DROP b, RENAME COLUMN a TO b", ["a>b"]),
        ("ALTER TABLE t ADD INDEX (c), CHANGE a b INT", ["a>b"]),
        ("ALTER TABLE t RENAME TO u, RENAME COLUMN a TO b", ["a>b"]),
        ("ALTER TABLE t RENAME INDEX a TO b, RENAME KEY c TO d", []),
        (
            "ALTER TABLE t ADD (x ENUM('CHANGE','a'), y INT), RENAME COLUMN `a,``b` TO `to`",
            ["a,`b>to"],
        ),
        ('ALTER TABLE t RENAME COLUMN "a" TO "b"', ["a>b"]),
        ("ALTER TABLE t RENAME COLUMN größe TO `ü ö`", ["größe>ü ö"]),
        (
            "ALTER TABLE t RENAME COLUMN IF EXISTS a TO b, CHANGE COLUMN IF EXISTS c d INT",
            ["a>b?", "c>d?"],
        ),
        ("ALTER ONLINE IGNORE TABLE IF EXISTS t WAIT 5 CHANGE a b INT", ["a>b"]),
        ("ALTER TABLE t NOWAIT CHANGE a b INT", ["a>b"]),
        ("/* why */ SET STATEMENT max_statement_time=10 FOR ALTER TABLE t CHANGE a b INT", ["a>b"]),
        ("ALTER TABLE t /*!80000 RENAME COLUMN a TO b */", ["a>b"]),
        ("ALTER TABLE t PARTITION BY HASH (a) PARTITIONS 4", []),
        ("ALTER TABLE t", []),
        # not told: other statements, what two servers read in two ways, and a mode that the text
        # was not read in
        ("CREATE INDEX i ON t (a)", None),
        ("RENAME TABLE t TO u", None),
        ("ALTER DATABASE x CHARACTER SET utf8mb4", None),
        ("INSERT INTO t VALUES ('ALTER TABLE t CHANGE a b INT')", None),
        ("ALTER TABLE t ADD x INT /*M! , RENAME COLUMN a TO b */", None),
        ("SET STATEMENT sql_mode='ANSI_QUOTES' FOR ALTER TABLE t CHANGE a b INT", None),
    ],
)
def test_renames_are_read_from_the_text_or_not_told(sql: str, expected: list[str] | None) -> None:
    assert renames(sql) == expected


def test_a_text_is_read_in_the_sql_mode_of_its_session() -> None:
    sql = r"ALTER TABLE t ADD x TEXT COMMENT 'a\', RENAME COLUMN a TO b, ADD y TEXT COMMENT 'b'"
    assert renames(sql) == []
    assert renames(sql, SqlMode.NO_BACKSLASH_ESCAPES) == ["a>b"]


@given(
    st.lists(
        st.builds(ColumnRename, st.text(min_size=1), st.text(min_size=1), st.booleans()), max_size=3
    )
)
def test_the_header_tells_what_was_read(found: list[ColumnRename]) -> None:
    text = renamed_text(found)
    assert text.isascii()
    assert parse_renamed(text) == tuple(found)


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "{}",
        "[1]",
        '[{"old":"a"}]',
        '[{"new":1,"old":"a"}]',
        '[{"if_exists":1,"new":"b","old":"a"}]',
        "x",
    ],
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"renamed header|Expecting value"):
        parse_renamed(text)
