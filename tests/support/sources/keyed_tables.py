"""Random tables with keys of every kind, and random changes of their keys."""

from random import Random
from typing import Final

COLUMNS: Final = {
    "id": "INT",
    "n": "BIGINT",
    "v": "VARCHAR(10)",
    "c": "CHAR(4)",
    "e": "ENUM('x','y')",
    "d": "DECIMAL(9,2)",
    "w": "VARBINARY(9)",
    "s": "TINYTEXT",
}
_KEYS: Final = (
    "UNIQUE",
    "UNIQUE KEY {name}",
    "CONSTRAINT {name} UNIQUE",
    "KEY",
    "INDEX {name}",
    "UNIQUE INDEX {name} USING BTREE",
)
PLAIN: Final = tuple(name for name in COLUMNS if name != "s")


def created(random: Random, table: str) -> str:
    """Return the statement that creates the table. Values differ in every column, so no unique key
    is violated.
    """
    elements = [
        f"{name} {kind}{' NOT NULL' if random.random() < 0.6 else ''}{_own_key(random, name)}"
        for name, kind in COLUMNS.items()
    ]
    elements += [_key(random, number) for number in range(random.randrange(4))]
    if random.random() < 0.3:
        elements.append(f"PRIMARY KEY ({', '.join(_some(random))})")
    return f"CREATE TABLE {table} ({', '.join(elements)})"


def changed(random: Random, table: str, names: list[str]) -> str:
    """Return a statement that changes the keys of a table, or their columns.

    A server may refuse it. `names`: its indexes.
    """
    name, column = random.choice(names or ["none"]), random.choice(PLAIN)
    number = random.randrange(10, 99)
    return random.choice(
        (
            f"ALTER TABLE {table} ADD {_key(random, number)}",
            f"ALTER TABLE {table} ADD {_key(random, number)}, ADD {_key(random, number + 1)}",
            f"CREATE UNIQUE INDEX i{number} ON {table} ({', '.join(_some(random))})",
            f"CREATE INDEX i{number} ON {table} ({column})",
            f"DROP INDEX `{name}` ON {table}",
            f"ALTER TABLE {table} DROP KEY `{name}`",
            f"ALTER TABLE {table} DROP CONSTRAINT `{name}`",
            f"ALTER TABLE {table} RENAME INDEX `{name}` TO r{number}",
            f"ALTER TABLE {table} DROP PRIMARY KEY",
            f"ALTER TABLE {table} DROP PRIMARY KEY, ADD UNIQUE ({column})",
            f"ALTER TABLE {table} ADD PRIMARY KEY ({', '.join(_some(random))})",
            f"ALTER TABLE {table} MODIFY {column} {COLUMNS[column]} NOT NULL",
            f"ALTER TABLE {table} MODIFY {column} {COLUMNS[column]} NULL",
            f"ALTER TABLE {table} MODIFY {column} {COLUMNS[column]} NOT NULL UNIQUE",
            f"ALTER TABLE {table} MODIFY v VARCHAR({random.choice((5, 10, 20))}) NOT NULL",
            f"ALTER TABLE {table} ENGINE = InnoDB",
        )
    )


def _own_key(random: Random, name: str) -> str:
    return " UNIQUE" if name != "s" and random.random() < 0.1 else ""


def _key(random: Random, number: int) -> str:
    head = random.choice(_KEYS).format(name=f"k{number}")
    parts = [
        f"{name}({random.choice((2, 4))})" if name in "vc" and random.random() < 0.2 else name
        for name in _some(random)
    ]
    return f"{head} ({', '.join(parts)})"


def _some(random: Random) -> list[str]:
    return random.sample(PLAIN, random.choice((1, 1, 2)))
