"""Finds foreign keys by which a server changes rows without writing a binlog event."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.model.table import TableId

TABLES_WITH_KEYS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb FROM information_schema.TABLES WHERE ENGINE = "
    "'InnoDB' "
    "AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
)
PLAIN_QUOTES: Final = "SET SESSION sql_mode = '', sql_quote_show_create = 1"
"""Sets the quoting of names with which SHOW CREATE TABLE has the form that `_FOREIGN_KEY` expects.
"""
NATIVE: Final = "SHOW GLOBAL VARIABLES LIKE 'innodb_native_foreign_keys'"
_LOGGED_FROM: Final = (9, 6)
_NAME: Final = "`(?P<{}>(?:[^`]|``)+)`"
_FOREIGN_KEY: Final = re.compile(
    rf"^  CONSTRAINT .+ FOREIGN KEY \(.+\) REFERENCES "
    rf"(?:{_NAME.format('database')}\.)?{_NAME.format('table')} \(.+\)"
    r"(?P<actions>(?: ON (?:DELETE|UPDATE) [A-Z ]+?)*),?$",
    re.MULTILINE,
)
_ACTION: Final = re.compile(r"ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT)")


@dataclass(frozen=True, slots=True)
class Cascade:
    """A foreign key of `table`: if rows of `parent` change, the server changes rows of `table`.

    `actions` are its clauses in SQL, such as `ON DELETE CASCADE`.
    """

    table: TableId
    parent: TableId
    actions: Sequence[str]

    def __str__(self) -> str:
        return f"{self.table} ({', '.join(self.actions)} of {self.parent})"


def cascades_are_logged(version: str, native: str) -> bool:
    """Return whether the server writes the row changes of foreign keys into its binlog.

    MySQL 9.6 and later do, unless InnoDB executes the cascades. `version` is the server's version
    text, and `native` the value of innodb_native_foreign_keys, "" if the server has no such
    variable.
    """
    number = re.match(r"(\d+)\.(\d+)", version)
    if "mariadb" in version.lower() or number is None:
        return False
    return (int(number[1]), int(number[2])) >= _LOGGED_FROM and native.upper() not in ("ON", "1")


def cascades_of(table: TableId, created: str) -> Sequence[Cascade]:
    """Return the foreign keys of `table` that change its rows. `created` is the text of SHOW CREATE
    TABLE.

    That text is used because an account with only SELECT can read it; `REFERENTIAL_CONSTRAINTS`
    requires the right to change the table.
    """
    found = []
    for key in _FOREIGN_KEY.finditer(created):
        database = table.database if key["database"] is None else _unquoted(key["database"])
        if actions := tuple(_ACTION.findall(key["actions"])):
            found.append(Cascade(table, TableId(database, _unquoted(key["table"])), actions))
    return found


def _unquoted(name: str) -> str:
    return name.replace("``", "`")
