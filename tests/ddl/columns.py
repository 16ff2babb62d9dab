"""Random definitions of columns."""

from collections.abc import Sequence
from typing import Final

from tests.ddl.writing import LABELS, Writing, backticked

_CHARSETS: Final = ("latin1", "utf8mb4", "utf8mb3", "ucs2", "gbk", "binary", "ascii")
_COLLATIONS: Final = ("latin1_bin", "utf8mb4_bin", "utf8mb4_general_ci", "gbk_chinese_ci", "binary")
_INTEGERS: Final = (
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "INT(7)",
    "BIGINT(20)",
    "INT4",
    "MIDDLEINT",
    "BOOL",
)
_NUMBERS: Final = (
    "FLOAT",
    "FLOAT(30)",
    "FLOAT(7,3)",
    "DOUBLE",
    "DOUBLE PRECISION",
    "REAL",
    "DECIMAL",
    "DEC(7)",
    "NUMERIC(20,5)",
    "FIXED(9,2)",
)
_OTHERS: Final = (
    *(
        "BIT",
        "BIT(17)",
        "YEAR",
        "DATE",
        "TIME",
        "TIME(3)",
        "DATETIME",
        "DATETIME(6)",
        "TIMESTAMP NULL",
        "TIMESTAMP(3) NULL",
    ),
    *(
        "TIMESTAMP",
        "BINARY(9)",
        "VARBINARY(33)",
        "TINYBLOB",
        "BLOB",
        "BLOB(300)",
        "MEDIUMBLOB",
        "LONGBLOB",
        "GEOMETRY",
        "POINT",
        "JSON",
    ),
    *("LONG VARBINARY", "VARBINARY(66000)", "CHAR BYTE", "SERIAL"),
)
_CHARACTERS: Final = (
    *(
        "CHAR",
        "CHAR(20)",
        "VARCHAR(20)",
        "VARCHAR(300)",
        "CHARACTER VARYING(7)",
        "TINYTEXT",
        "TEXT",
        "TEXT(100)",
        "TEXT(20000)",
    ),
    *(
        "MEDIUMTEXT",
        "LONGTEXT",
        "LONG",
        "LONG VARCHAR",
        "VARCHAR(20000)",
        "VARCHAR(66000)",
        "TEXT(70000)",
    ),
)
_NATIONAL: Final = (
    "NCHAR(3)",
    "NATIONAL CHAR(4)",
    "NVARCHAR(5)",
    "NATIONAL VARCHAR(6)",
    "NCHAR VARYING(3)",
)
_OF_MARIADB: Final = (
    *(
        "UUID",
        "INET6",
        "INET4",
        "VARCHAR(50) COMPRESSED",
        "VARBINARY(50) COMPRESSED",
        "TEXT COMPRESSED",
        "mariadb_schema.DATE",
    ),
    *("oracle_schema.DATE", "maxdb_schema.TIMESTAMP(3)", "BLOB COMPRESSED"),
)
_OF_ORACLE: Final = (
    "VARCHAR2(9)",
    "NUMBER",
    "NUMBER(7)",
    "NUMBER(9,3)",
    "RAW(5)",
    "CLOB",
    "BLOB",
    "DATE",
    "TIMESTAMP(2)",
)


def definition(writing: Writing, family: str, others: Sequence[str] = ()) -> str:
    """A type and its attributes; `others` are the table's columns, for generated ones."""
    random = writing.random
    if others and writing.chance(0.06):
        stored = random.choice(("STORED", "VIRTUAL", ""))
        # MariaDB 10.1 keeps the expression as it is written: a session without ANSI_QUOTES then
        # cannot open the table.
        return (
            f"INT GENERATED ALWAYS AS (length({backticked(random.choice(others))}) + "
            f"{random.randrange(9)}) {stored}"
        )
    declared = _type(writing, family)
    attributes = [each for each, share in _attributes(writing, declared) if writing.chance(share)]
    random.shuffle(attributes)
    return " ".join([declared, *attributes])


def _type(writing: Writing, family: str) -> str:
    random = writing.random
    if "ORACLE" in writing.modes and writing.chance(0.4):
        return random.choice(_OF_ORACLE)
    if family == "mariadb" and writing.chance(0.15):
        return random.choice(_OF_MARIADB)
    match random.randrange(6):
        case 0:
            integer = random.choice(_INTEGERS)
            option = random.choice(
                ("", "", " UNSIGNED", " SIGNED", " ZEROFILL", " UNSIGNED ZEROFILL")
            )
            return f"{integer}{option}".replace("BOOL ", "TINYINT ")
        case 1:
            return random.choice(_NUMBERS)
        case 2:
            return random.choice(_OTHERS)
        case 3:
            return _labelled(writing) + _charset(writing)
        case 4:
            return random.choice(_NATIONAL)
        case _:
            return random.choice(_CHARACTERS) + _charset(writing)


def _labelled(writing: Writing) -> str:
    random = writing.random
    labels = [writing.text(label) for label in random.sample(LABELS, random.randint(1, 5))]
    if writing.chance(0.15):
        labels.append(random.choice(("x'7A7A'", "0x7a7b", "b'01100001'")))
    return f"{random.choice(('ENUM', 'SET'))}({', '.join(labels)})"


def _charset(writing: Writing) -> str:
    if writing.chance(0.6):
        return ""
    words = (
        "CHARACTER SET {0}",
        "CHARSET {0}",
        "CHARACTER SET '{0}'",
        "COLLATE {1}",
        "ASCII",
        "UNICODE",
        "BINARY",
        "CHARACTER SET {0} BINARY",
    )
    return " " + writing.random.choice(words).format(
        writing.random.choice(_CHARSETS), writing.random.choice(_COLLATIONS)
    )


def _attributes(writing: Writing, declared: str) -> list[tuple[str, float]]:
    null = [("NOT NULL", 0.3), ("NULL", 0.1)][: 1 if writing.chance(0.5) else 2]
    if "NULL" in declared or "SERIAL" in declared:
        null = []
    default = "DEFAULT NULL" if writing.chance(0.5) else f"DEFAULT {writing.text('1')}"
    return [
        *null[writing.random.randrange(2) :],
        (default, 0.2),
        (f"COMMENT {writing.text()}", 0.3),
        ("INVISIBLE", 0.08),
        ("UNIQUE" if writing.chance(0.5) else "UNIQUE KEY", 0.06),
        ("PRIMARY KEY" if writing.chance(0.5) else "KEY", 0.05),
        ("CHECK (1 > 0)", 0.08),
        ("DEFAULT (1 + 2)", 0.04),
        (
            "DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
            0.3 if declared == "TIMESTAMP" else 0.0,
        ),
        (
            writing.random.choice(
                (
                    "AUTO_INCREMENT KEY",
                    "AUTO_INCREMENT UNIQUE",
                    "NOT NULL AUTO_INCREMENT PRIMARY KEY",
                )
            ),
            0.05,
        ),
        (f"REFERENCES t ({writing.name('a')}) ON DELETE SET NULL", 0.03),
        (f"CONSTRAINT {writing.name('ck')} CHECK (1 > 0)", 0.03),
    ]


def charset_option(writing: Writing) -> str:
    """A table's or a database's character set."""
    words = (
        *(
            "CHARACTER SET {0}",
            "DEFAULT CHARSET={0}",
            "CHARSET = '{0}'",
            "COLLATE {1}",
            "DEFAULT COLLATE = {1}",
            "CHARACTER SET DEFAULT",
        ),
        *(
            "DEFAULT CHARACTER SET = DEFAULT",
            "COLLATE DEFAULT",
            "COLLATE uca1400_ai_ci",
            "/*!40100 DEFAULT CHARACTER SET {0} */",
        ),
    )
    return writing.random.choice(words).format(
        writing.random.choice(_CHARSETS), writing.random.choice(_COLLATIONS)
    )
