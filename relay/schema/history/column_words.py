"""The words in which servers take a column's type → one canonical word (MySQL and MariaDB manuals: Data Types, their synonyms)."""

from typing import Final

# What ends with the longest words first is looked at by whoever reads: `DOUBLE PRECISION` before `DOUBLE`.
SYNONYMS: Final = {
    **dict.fromkeys(("INTEGER", "INT4"), "int"),
    **dict.fromkeys(("INT1", "BOOL", "BOOLEAN"), "tinyint"),
    "INT2": "smallint",
    **dict.fromkeys(("INT3", "MIDDLEINT"), "mediumint"),
    "INT8": "bigint",
    **dict.fromkeys(("DEC", "NUMERIC", "FIXED"), "decimal"),
    **dict.fromkeys(("REAL", "FLOAT8", "DOUBLE PRECISION"), "double"),
    "FLOAT4": "float",
    **dict.fromkeys(("CHARACTER", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"), "char"),
    **dict.fromkeys(
        ("VARCHARACTER", "CHAR VARYING", "CHARACTER VARYING", "NVARCHAR", "NCHAR VARCHAR", "NCHAR VARYING", "NATIONAL VARCHAR",
         "NATIONAL VARCHARACTER", "NATIONAL CHAR VARYING", "NATIONAL CHARACTER VARYING"),
        "varchar",
    ),
    **dict.fromkeys(("LONG", "LONG VARCHAR", "LONG CHAR VARYING", "LONG CHARACTER VARYING"), "mediumtext"),
    "LONG VARBINARY": "mediumblob",
    "GEOMETRYCOLLECTION": "geomcollection",
    "SERIAL": "bigint",
}  # fmt: skip
NATIONAL: Final = ("NATIONAL", "NCHAR", "NVARCHAR")
"""Words that begin a type in the national character set, utf8mb3."""

CHARACTER_KINDS: Final = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"})
BYTE_KINDS: Final = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
OF_BYTES: Final = {
    "char": "binary", "varchar": "varbinary", "tinytext": "tinyblob", "text": "blob", "mediumtext": "mediumblob", "longtext": "longblob",
}  # fmt: skip
"""What a character kind is in the character set `binary`."""
TEXTS: Final = ("tinytext", "text", "mediumtext", "longtext")
TEXT_BYTES: Final = (0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF)

MEASURED: Final = frozenset({"decimal", "char", "varchar", "binary", "varbinary", "bit", "time", "datetime", "timestamp"})
"""Kinds whose measures stand in table maps; those of the others are for display."""
DEFAULT_MEASURES: Final = {"decimal": (10, 0), "char": (1,), "binary": (1,), "bit": (1,)}

LONGEST_CHARACTER: Final = {
    "utf8mb3": 3, "utf8mb4": 4, "ucs2": 2, "utf16": 4, "utf16le": 4, "utf32": 4, "gbk": 2, "gb2312": 2, "gb18030": 4,
    "big5": 2, "sjis": 2, "cp932": 2, "ujis": 3, "eucjpms": 3, "euckr": 2,
}  # fmt: skip
"""Bytes of the longest character, of the character sets where it is not 1 (information_schema.CHARACTER_SETS)."""


def charset_name(written: str) -> str:
    """A character set as table maps have it; `utf8` is the old three-byte one on every server that is read."""
    name = written.lower()
    return "utf8mb3" if name in ("utf8", "utf8mb3") else name


def charset_of_collation_name(collation: str) -> str | None:
    """The character set that a collation's name begins with; None where it says none (MariaDB's `uca1400_ai_ci`, `DEFAULT`)."""
    name = collation.lower()
    if name == "binary":
        return "binary"
    head, _, rest = name.partition("_")
    return charset_name(head) if rest and head not in ("uca1400", "nopad") else None
