"""The character sets that statements leave to a default: a session's for databases, a database's
for tables.
"""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import TableId
from relay.schema.ddl import classify
from relay.schema.history import DescribedTable, FollowedTables


def after(*sqls: str, session: str = "gbk", mariadb: bool = True) -> FollowedTables:
    schemas = FollowedTables(mariadb=mariadb, server_charset="utf8mb4")
    for sql in sqls:
        statement = Statement(sql, "d", 0, BinlogPosition("b.1", 4), server_charset=session)
        schemas.apply(statement, classify(statement))
    return schemas


@pytest.mark.parametrize(
    ("sqls", "charset"),
    [
        (["CREATE DATABASE d"], "gbk"),
        (["CREATE DATABASE d DEFAULT CHARACTER SET = DEFAULT"], "gbk"),
        (["CREATE DATABASE d CHARACTER SET latin2", "CREATE DATABASE IF NOT EXISTS d"], "latin2"),
        (
            ["CREATE DATABASE d CHARACTER SET latin2", "ALTER DATABASE d CHARACTER SET DEFAULT"],
            None,
        ),
        (["CREATE DATABASE d CHARACTER SET gbk", "ALTER DATABASE d CHARACTER SET DEFAULT"], "gbk"),
        (
            ["CREATE DATABASE d CHARACTER SET latin2", "ALTER DATABASE d DEFAULT ENCRYPTION='Y'"],
            "latin2",
        ),
        (
            [
                "CREATE DATABASE d CHARACTER SET latin2",
                "ALTER DATABASE d COMMENT 'CHARACTER SET DEFAULT'",
            ],
            "latin2",
        ),
        (["CREATE DATABASE d CHARACTER SET latin2", "ALTER DATABASE d COLLATE DEFAULT"], None),
        (
            [
                "CREATE DATABASE d",
                "CREATE TABLE t (a INT)",
                "ALTER DATABASE d COLLATE DEFAULT",
                "CREATE DATABASE IF NOT EXISTS d",
            ],
            None,
        ),
        (
            [
                "CREATE DATABASE d CHARACTER SET latin2",
                "ALTER DATABASE d CHARACTER SET latin5 COLLATE DEFAULT",
            ],
            None,
        ),
    ],
)
def test_a_database_takes_the_default_of_the_session_that_made_it(
    sqls: list[str], charset: str | None
) -> None:
    assert after(*sqls).databases.get("d") == charset


def test_mysql_gives_a_database_the_default_of_its_session_anew() -> None:
    sqls = "CREATE DATABASE d CHARACTER SET latin2", "ALTER DATABASE d CHARACTER SET DEFAULT"
    assert after(*sqls, mariadb=False).databases == {"d": "gbk"}


def test_a_database_of_a_session_that_is_not_logged_takes_the_servers() -> None:
    assert after("CREATE DATABASE d", session="").databases == {"d": "utf8mb4"}


CREATED = "CREATE DATABASE d CHARACTER SET latin2", "CREATE TABLE t (a INT) CHARACTER SET latin1"


@pytest.mark.parametrize("item", ["CHARACTER SET DEFAULT", "DEFAULT CHARSET = DEFAULT"])
def test_a_tables_default_is_that_of_its_database(item: str) -> None:
    altered = after(*CREATED, f"ALTER TABLE t ADD b VARCHAR(3), {item}").of(TableId("d", "t"))
    assert isinstance(altered, DescribedTable)
    assert (altered.charset, altered.columns[1].charset) == ("latin2", "latin2")
    made = after(*CREATED, f"CREATE TABLE u (b VARCHAR(3)) {item}").of(TableId("d", "u"))
    assert isinstance(made, DescribedTable)
    assert (made.charset, made.columns[0].charset) == ("latin2", "latin2")


@pytest.mark.parametrize(
    "item",
    ["CONVERT TO CHARACTER SET DEFAULT", "COLLATE DEFAULT", "CHARACTER SET latin5 COLLATE DEFAULT"],
)
@pytest.mark.parametrize("mariadb", [True, False])
def test_a_default_that_depends_on_the_release_makes_the_table_unknown(
    item: str, mariadb: bool
) -> None:
    assert isinstance(
        after(*CREATED, f"ALTER TABLE t ADD b VARCHAR(3), {item}", mariadb=mariadb).of(
            TableId("d", "t")
        ),
        str,
    )
