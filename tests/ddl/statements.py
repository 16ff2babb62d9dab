"""Random statements about the tables that are there."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

from relay.schema.history import DescribedTable
from tests.ddl.columns import charset_option, definition
from tests.ddl.writing import Writing, backticked

_MODES: Final = {
    "both": (
        "",
        "",
        "",
        "ANSI_QUOTES",
        "NO_BACKSLASH_ESCAPES",
        "ANSI",
        "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
        "PIPES_AS_CONCAT,IGNORE_SPACE",
    ),
    "mysql": ("REAL_AS_FLOAT", "STRICT_ALL_TABLES", "PAD_CHAR_TO_FULL_LENGTH"),
    "mariadb": (
        "ORACLE",
        "MSSQL",
        "MAXDB",
        "DB2",
        "POSTGRESQL",
        "ORACLE,NO_BACKSLASH_ESCAPES",
        "STRICT_ALL_TABLES",
    ),
}
_WITHOUT_COMBINED_MODES: Final = (8, 0, 0)
"""The first MySQL without ORACLE, MSSQL and their like."""
_TABLES: Final = ("t", "u", "v w", "Shop", 'x"y', "z\\")
_CONVERTED: Final = (
    "CHARACTER SET latin1",
    "CHARACTER SET DEFAULT",
    "CHARACTER SET utf8mb4",
    "CHARSET gbk COLLATE gbk_bin",
    "CHARACTER SET binary",
)
_MOST_COLUMNS: Final = 14


class Made(NamedTuple):
    """A statement, what its session is set to before, and the temporary tables that are dropped
    after it.
    """

    sql: str
    settings: tuple[str, ...]
    shadows: tuple[str, ...] = ()


class StatementMaker:
    """Makes statements for the tables of one database.

    The same seed and tables give the same statements.
    """

    def __init__(
        self, family: str, version: tuple[int, ...], random: Random, databases: tuple[str, str]
    ) -> None:
        self._family = family
        combined = (
            _MODES["mariadb"] if family == "mysql" and version < _WITHOUT_COMBINED_MODES else ()
        )
        self._modes = (*_MODES["both"], *_MODES[family], *combined)
        self._databases = databases
        self._random = random
        self._write = Writing(random, "")
        self._makers = [
            *[self._alter] * 12,
            *[self._create] * 5,
            *[self._rename] * 2,
            *[self._index] * 2,
            *(
                self._drop,
                self._like,
                self._database,
                self._truncate,
                self._from_query,
                self._temporary,
                self._other_database,
            ),
            *(self._away, self._partition, self._exchange),
            *([self._sequence] * 2 if family == "mariadb" else []),
        ]

    def make(self, tables: Mapping[str, DescribedTable]) -> Made:
        """A statement; servers refuse some of them."""
        random = self._random
        sql_mode = random.choice(self._modes)
        self._write = Writing(random, sql_mode)
        settings = [f"sql_mode = '{sql_mode}'"]
        if self._family == "mysql":
            settings.append(f"sql_generate_invisible_primary_key = {random.choice(('ON', 'OFF'))}")
        else:
            settings.append("system_versioning_alter_history = KEEP")
        settings.append(f"explicit_defaults_for_timestamp = {random.choice(('ON', 'ON', 'OFF'))}")
        settings.append(
            f"character_set_server = {random.choice(('utf8mb4', 'utf8mb4', 'latin1', 'gbk'))}"
        )
        maker = random.choice(self._makers) if len(tables) > 1 else self._create
        made = self._write.spaced(maker(tables))
        return Made(
            made, tuple(settings), tuple(map(backticked, _TABLES)) if "TEMPORARY" in made else ()
        )

    def _some(self, tables: Mapping[str, DescribedTable]) -> str:
        return self._random.choice(sorted(tables))

    def _table(self, name: str) -> str:
        database = (
            f"{self._write.name(self._databases[0])}{self._random.choice(('.', ' . ', '.'))}"
            if self._write.chance(0.1)
            else ""
        )
        return database + self._write.name(name)

    def _elsewhere(self, name: str) -> str:
        return f"{self._databases[1]}.{self._write.name(name)}"

    def _create(self, _tables: Mapping[str, DescribedTable]) -> str:
        write, name = self._write, self._random.choice(_TABLES)
        columns: list[str] = []
        elements = []
        for _ in range(self._random.randint(1, 7)):
            column = write.new_name(set(columns))
            elements.append(f"{write.name(column)} {definition(write, self._family, columns)}")
            columns.append(column)
        elements += self._keys(columns, 0.4, 0.2)
        options = [charset_option(write)] if write.chance(0.4) else []
        options += [f"COMMENT={write.text()}"] if write.chance(0.3) else []
        if self._family == "mariadb" and write.chance(0.2):
            options += self._times(elements)
        replace = " OR REPLACE" if self._family == "mariadb" and write.chance(0.5) else ""
        optional = "" if replace or write.chance(0.5) else " IF NOT EXISTS"
        optional = self._write.executed(optional) if optional else ""
        return f"CREATE{replace}\0TABLE{optional}\0{self._table(name)}\0({', '.join(elements)})\0{' '.join(options)}"  # noqa: E501

    def _times(self, elements: list[str]) -> list[str]:
        """Periods and versions of MariaDB."""
        match self._random.randrange(4):
            case 0:
                elements += ["per_s DATE", "per_e DATE", "PERIOD FOR app (per_s, per_e)"]
            case 1:
                times = (
                    "ver_s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, ver_e TIMESTAMP(6) "
                    "GENERATED ALWAYS AS ROW END INVISIBLE"
                )
                elements.insert(self._random.randrange(len(elements)), times)
                elements.append("PERIOD FOR SYSTEM_TIME (ver_s, ver_e)")
                return ["WITH SYSTEM VERSIONING"]
            case 2:
                return ["WITH SYSTEM VERSIONING"]
        return []

    def _keys(self, columns: Sequence[str], primary: float, unique: float) -> list[str]:
        def of(share: float, words: str) -> list[str]:
            some = self._random.sample(list(columns), min(len(columns), self._random.randint(1, 2)))
            names = ", ".join(
                self._write.name(name) + self._random.choice(("", "", "", "", "(3)", " DESC"))
                for name in some
            )
            return [f"{words} ({names})"] if columns and self._write.chance(share) else []

        return [
            *of(primary, self._random.choice(("PRIMARY KEY", "CONSTRAINT pk PRIMARY KEY"))),
            *of(unique, self._unique()),
        ]

    def _unique(self) -> str:
        name = self._random.choice(("", "uk", "uk2", "a", "b"))
        return self._random.choice(
            (
                "UNIQUE KEY {0}",
                "UNIQUE INDEX {0}",
                "UNIQUE {0}",
                "CONSTRAINT {0} UNIQUE",
                "CONSTRAINT x UNIQUE {0}",
            )
        ).format(name)

    def _like(self, tables: Mapping[str, DescribedTable]) -> str:
        body = f"LIKE {self._table(self._some(tables))}"
        return (
            f"CREATE TABLE\0{self._table(self._random.choice(_TABLES))} "
            f"{body if self._write.chance(0.5) else f'({body})'}"
        )

    def _from_query(self, tables: Mapping[str, DescribedTable]) -> str:
        replace = self._random.choice((" OR REPLACE", "")) if self._family == "mariadb" else ""
        first = self._random.choice(
            ("", "", "(z INT)", "(z INT) IGNORE AS", "(KEY (z), z INT)", "CHARACTER SET latin1")
        )
        some = self._table(self._some(tables))
        return (
            f"CREATE{replace} TABLE\0{self._table(self._random.choice(_TABLES))}\0{first} SELECT * "
            f"FROM {some}"
        )

    def _temporary(self, tables: Mapping[str, DescribedTable]) -> str:
        """Statements about a temporary table, which hides the one of its name."""
        name = self._table(self._random.choice(_TABLES))
        body = self._random.choice(
            (
                "(a INT)",
                f"LIKE {self._table(self._some(tables))}",
                f"SELECT * FROM {self._table(self._some(tables))}",
            )
        )
        return self._random.choice(
            (f"CREATE\0TEMPORARY TABLE\0{name} {body}", f"DROP TEMPORARY TABLE IF EXISTS\0{name}")
        )

    def _other_database(self, tables: Mapping[str, DescribedTable]) -> str:
        name, table = self._databases[1], self._elsewhere(self._random.choice(_TABLES))
        optional = self._write.executed("IF NOT EXISTS")
        options = [
            (
                f"CREATE DATABASE {optional} {name} "
                f"{charset_option(self._write) if self._write.chance(0.5) else ''}"
            ),
            f"CREATE DATABASE {optional} {name}",
            (
                f"CREATE TABLE {table} "
                f"{self._random.choice(('(a VARCHAR(20))', f'LIKE {self._table(self._some(tables))}'))}"  # noqa: E501
            ),
            f"ALTER DATABASE {name} {charset_option(self._write)}",
            f"ALTER TABLE {table} ADD b TEXT",
            f"DROP TABLE {table}",
        ]
        return self._random.choice(
            [*options, f"DROP DATABASE {name}"] if self._write.chance(0.4) else options
        )

    def _away(self, tables: Mapping[str, DescribedTable]) -> str:
        """Rename into the other database, or back."""
        here, there = self._table(self._some(tables)), self._elsewhere(self._random.choice(_TABLES))
        words = self._random.choice(
            (
                "RENAME TABLE\0{0} TO {1}",
                "ALTER TABLE\0{0} RENAME TO {1}",
                "RENAME TABLE\0{1} TO {0}",
            )
        )
        return words.format(here, there)

    def _partition(self, tables: Mapping[str, DescribedTable]) -> str:
        name = self._some(tables)
        chosen = self._random.choice(tables[name].columns)
        # MySQL 5.7 keeps the expression as it is written: in a session without ANSI_QUOTES its
        # catalogue then shows no keys.
        column = backticked(chosen.name)
        # MariaDB 10.2.11 ends with a signal where others refuse HASH of another type.
        numbers = (
            f"PARTITION BY HASH ({column}) PARTITIONS 3",
            (
                f"/*!50100 PARTITION BY RANGE ({column}) (PARTITION p0 VALUES LESS THAN (10), "
                f"PARTITION p1 VALUES LESS THAN MAXVALUE) */"
            ),
        )
        ways = [
            f"PARTITION BY KEY ({column}) PARTITIONS 2",
            *(numbers if chosen.kind.endswith("int") else ()),
            *(
                "REMOVE PARTITIONING",
                "ADD PARTITION PARTITIONS 1",
                "COALESCE PARTITION 1",
                "TRUNCATE PARTITION p0",
                "DROP PARTITION p0",
            ),
            (
                "REORGANIZE PARTITION p0 INTO (PARTITION p00 VALUES LESS THAN (5), PARTITION p01 "
                "VALUES LESS THAN (10))"
            ),
        ]
        return f"ALTER TABLE\0{self._table(name)}\0{self._random.choice(ways)}"

    def _exchange(self, _tables: Mapping[str, DescribedTable]) -> str:
        """Statements about a table of ranges, and tables that take the place of its partitions."""
        ranges = (
            "PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS "
            "THAN (20))"
        )
        ways = [
            f"CREATE TABLE {self._table('parts')} (a INT, b VARCHAR(9)) {ranges}",
            f"CREATE TABLE {self._table('part')} (a INT, b VARCHAR(9))",
            (
                f"ALTER TABLE {self._table('parts')} EXCHANGE PARTITION p0 WITH "
                f"TABLE\0{self._table('part')}"
            ),
            f"DROP TABLE IF EXISTS {self._table(self._random.choice(('part', 'parts')))}",
        ]
        if self._family == "mariadb":
            ways.append(
                f"ALTER TABLE {self._table('parts')} CONVERT PARTITION p1 TO "
                f"TABLE\0{self._table('part')}"
            )
            ways.append(
                f"ALTER TABLE {self._table('parts')} CONVERT TABLE\0{self._table('part')} TO "
                f"PARTITION p1 VALUES LESS THAN (30)"
            )
        return self._random.choice(ways)

    def _rename(self, tables: Mapping[str, DescribedTable]) -> str:
        one, other = self._some(tables), self._some(tables)
        if one != other and self._write.chance(0.5):
            steps = [(one, "swap"), (other, one), ("swap", other)]
        else:
            steps = [(one, self._random.choice(_TABLES))]
            steps += [(other, self._random.choice(_TABLES))] if self._write.chance(0.4) else []
        optional = "IF EXISTS\0" if self._family == "mariadb" and self._write.chance(0.3) else ""
        return f"RENAME TABLE\0{optional}" + ", ".join(
            f"{self._table(old)} TO {self._table(new)}" for old, new in steps
        )

    def _drop(self, tables: Mapping[str, DescribedTable]) -> str:
        names = ", ".join(
            map(self._table, sorted({self._some(tables), self._random.choice(_TABLES)}))
        )
        optional = f"{self._write.executed('IF EXISTS')}\0" if self._write.chance(0.7) else ""
        return f"DROP TABLE\0{optional}{names}"

    def _index(self, tables: Mapping[str, DescribedTable]) -> str:
        name = self._some(tables)
        column = self._random.choice(tables[name].columns).name
        there = self._random.choice(
            ["PRIMARY", *(index.name for index in tables[name].indexes or ())]
        )
        if self._write.chance(0.3):
            optional = "IF EXISTS " if self._family == "mariadb" and self._write.chance(0.4) else ""
            return f"DROP INDEX {optional}{self._write.name(there)} ON\0{self._table(name)}"
        unique = self._random.choice(("", "UNIQUE "))
        optional = "IF NOT EXISTS " if self._family == "mariadb" and self._write.chance(0.3) else ""
        replace = (
            "OR REPLACE "
            if self._family == "mariadb" and not optional and self._write.chance(0.3)
            else ""
        )
        new = self._write.name(self._random.choice((there, f"i{self._random.randrange(99)}")))
        return (
            f"CREATE {replace}{unique}INDEX {optional}{new} ON\0{self._table(name)} "
            f"({self._write.name(column)})"
        )

    def _database(self, _tables: Mapping[str, DescribedTable]) -> str:
        return f"ALTER DATABASE\0{charset_option(self._write)}"

    def _truncate(self, tables: Mapping[str, DescribedTable]) -> str:
        return f"TRUNCATE\0{self._table(self._some(tables))}"

    def _sequence(self, _tables: Mapping[str, DescribedTable]) -> str:
        name = self._table(self._random.choice(("s1", "s2")))
        return self._random.choice(
            (f"CREATE SEQUENCE {name}", (
                f"CREATE OR REPLACE SEQUENCE\0{name} START 7"
            ), f"DROP SEQUENCE IF EXISTS\0{name}",
             f"ALTER SEQUENCE\0{name} INCREMENT 3")
        )  # fmt: skip

    def _alter(self, tables: Mapping[str, DescribedTable]) -> str:
        name = self._some(tables)
        columns = [column.name for column in tables[name].columns]
        indexes = [index.name for index in tables[name].indexes or ()] or ["uk"]
        items = [
            self._index_item(indexes) if self._write.chance(0.06) else self._item(columns)
            for _ in range(self._random.choice((1, 1, 2, 3, 4)))
        ]
        # MariaDB 11.4 leaves a definition behind where a table is copied and renamed whose file
        # name is not its own.
        if self._write.chance(0.05) and (self._family != "mariadb" or name.isidentifier()):
            items.append(f"RENAME TO {self._table(self._random.choice(_TABLES))}")
        if self._write.chance(0.1):
            items.append(
                self._random.choice(("ALGORITHM=INSTANT", "ALGORITHM=COPY", "LOCK=SHARED", "FORCE"))
            )
        prefix = (
            "SET STATEMENT lock_wait_timeout=9 FOR "
            if self._family == "mariadb" and self._write.chance(0.1)
            else ""
        )
        optional = "IF EXISTS " if self._family == "mariadb" and self._write.chance(0.1) else ""
        changes = ", ".join(map(self._write.executed, items))
        return f"{prefix}ALTER\0TABLE\0{optional}{self._table(name)}\0{changes}"

    def _index_item(self, indexes: Sequence[str]) -> str:
        optional = "IF EXISTS " if self._family == "mariadb" and self._write.chance(0.4) else ""
        name = self._write.name(self._random.choice(indexes))
        ways = [
            f"DROP KEY {optional}{name}",
            f"DROP CONSTRAINT {optional}{name}",
            (
                f"RENAME INDEX {optional}{name} TO "
                f"{self._write.name(self._random.choice(('uk', 'uk3')))}"
            ),
        ]
        return self._random.choice(ways)

    def _item(self, columns: Sequence[str]) -> str:
        makers = [
            *[self._add] * 4,
            *[self._modify] * 4,
            self._rename_column,
            self._drop_column,
            self._hide,
            self._key,
            self._option,
        ]
        if len(columns) > _MOST_COLUMNS:
            makers = [self._drop_column]
        return self._random.choice(makers)(columns)

    def _place(self, columns: Sequence[str]) -> str:
        if self._write.chance(0.5):
            return ""
        return " FIRST" if self._write.chance(0.4) else f" AFTER {self._column(columns)}"

    def _column(self, columns: Sequence[str]) -> str:
        return self._write.name(self._random.choice(columns))

    def _word(self) -> str:
        return self._random.choice(("", "COLUMN "))

    def _add(self, columns: Sequence[str]) -> str:
        write = self._write
        optional = "IF NOT EXISTS " if self._family == "mariadb" and write.chance(0.2) else ""
        new = (
            self._random.choice(columns)
            if optional and write.chance(0.4)
            else write.new_name(set(columns))
        )
        if write.chance(0.2):
            more = (
                f"{write.name(f'm{self._random.randrange(999)}')} {definition(write, self._family)}"
            )
            return (
                f"ADD {self._word()}{optional}({write.name(new)} "
                f"{definition(write, self._family)}, {more})"
            )
        return (
            f"ADD {self._word()}{optional}{write.name(new)} "
            f"{definition(write, self._family, columns)}{self._place(columns)}"
        )

    def _modify(self, columns: Sequence[str]) -> str:
        write, old = self._write, self._random.choice(columns)
        optional = "IF EXISTS " if self._family == "mariadb" and write.chance(0.2) else ""
        if optional and write.chance(0.2):
            old = write.new_name(set(columns))
        others = [name for name in columns if name != old] or columns
        declared = f"{definition(write, self._family)}{self._place(others)}"
        if write.chance(0.5):
            return f"MODIFY {self._word()}{optional}{write.name(old)} {declared}"
        new = old if write.chance(0.4) else write.new_name(set(columns))
        return f"CHANGE {self._word()}{optional}{write.name(old)} {write.name(new)} {declared}"

    def _rename_column(self, columns: Sequence[str]) -> str:
        one, other = self._random.choice(columns), self._random.choice(columns)
        if one != other and self._write.chance(0.4):
            one, other = map(self._write.name, (one, other))
            return f"RENAME COLUMN {one} TO {other}, RENAME COLUMN {other} TO {one}"
        optional = "IF EXISTS " if self._family == "mariadb" and self._write.chance(0.2) else ""
        return (
            f"RENAME COLUMN {optional}{self._write.name(one)} TO "
            f"{self._write.name(self._write.new_name(set(columns)))}"
        )

    def _drop_column(self, columns: Sequence[str]) -> str:
        optional = "IF EXISTS " if self._family == "mariadb" and self._write.chance(0.2) else ""
        name = "zz" if optional and self._write.chance(0.3) else self._random.choice(columns)
        return f"DROP {self._word()}{optional}{self._write.name(name)}"

    def _hide(self, columns: Sequence[str]) -> str:
        what = self._random.choice(
            ("SET DEFAULT '1'", "DROP DEFAULT", "SET INVISIBLE", "SET VISIBLE")
        )
        return f"ALTER {self._word()}{self._column(columns)} {what}"

    def _key(self, columns: Sequence[str]) -> str:
        added = [f"ADD {key}" for key in self._keys(columns, 1, 1)]
        if self._family == "mariadb" and self._write.chance(0.3):
            added = [
                (
                    f"ADD {self._random.choice(('UNIQUE KEY', 'PRIMARY KEY', 'UNIQUE'))} IF NOT "
                    f"EXISTS ({self._column(columns)})"
                )
            ]
        return self._random.choice(
            (
                "DROP PRIMARY KEY",
                f"DROP PRIMARY KEY, {added[0]}",
                *added,
                "DROP KEY uk",
                f"ADD INDEX ({self._column(columns)})",
            )
        )

    def _option(self, _columns: Sequence[str]) -> str:
        charset = self._random.choice(_CONVERTED)
        of_both = (
            f"CONVERT TO {charset}",
            charset_option(self._write),
            f"COMMENT {self._write.text()}",
            *("ENGINE=InnoDB", "AUTO_INCREMENT=7", "ORDER BY 1", "ROW_FORMAT=DYNAMIC"),
        )
        of_mariadb = (
            "ADD SYSTEM VERSIONING",
            "DROP SYSTEM VERSIONING",
            "ADD PERIOD FOR app (per_s, per_e)",
            "DROP PERIOD FOR app",
        )
        options: list[str] = [*of_both, *(of_mariadb if self._family == "mariadb" else ())]
        return self._random.choice(options)
