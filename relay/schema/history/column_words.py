"""Converts the words that servers accept for a column's type to one canonical word (MySQL and
MariaDB manuals: Data Types, their synonyms).
"""

from collections.abc import Mapping
from typing import Final

from relay.model.sql_mode import NO_MODE, SqlMode

# The longest names must be compared first: `DOUBLE PRECISION` before `DOUBLE`.
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
        ("VARCHARACTER", "CHAR VARYING", "CHARACTER VARYING", "NVARCHAR", "NCHAR VARCHAR",
         "NCHAR VARYING", "NATIONAL VARCHAR", "NATIONAL VARCHARACTER", "NATIONAL CHAR VARYING",
         "NATIONAL CHARACTER VARYING"),
        "varchar",
    ),
    **dict.fromkeys(
        ("LONG", "LONG VARCHAR", "LONG CHAR VARYING", "LONG CHARACTER VARYING"), "mediumtext"
    ),
    "LONG VARBINARY": "mediumblob",
    "GEOMETRYCOLLECTION": "geomcollection",
    "SERIAL": "bigint",
}  # fmt: skip
TYPES_OF_MODE: Final[Mapping[SqlMode, Mapping[str, str]]] = {
    SqlMode.REAL_AS_FLOAT: {"REAL": "float"},
    SqlMode.ORACLE: {
        "DATE": "datetime", "VARCHAR2": "varchar", "RAW": "varbinary", "CLOB": "longtext",
        "BLOB": "longblob", "NUMBER": "decimal",
    },
    SqlMode.MAXDB: {"TIMESTAMP": "datetime"},
}  # fmt: skip
"""Types that mean something else in a session with this mode (MariaDB: sql_mode=ORACLE,
sql_schema.cc). NUMBER without digits is a double.
"""
MODE_OF_SCHEMA: Final = {
    "MARIADB_SCHEMA": NO_MODE,
    "ORACLE_SCHEMA": SqlMode.ORACLE,
    "MAXDB_SCHEMA": SqlMode.MAXDB,
}
"""MariaDB's schema qualifiers of type names (`oracle_schema`), and the sql_mode under which they
read the type.
"""
NATIONAL: Final = ("NATIONAL", "NCHAR", "NVARCHAR")
"""Words that begin a type in the national character set, utf8mb3."""

CHARACTER_KINDS: Final = frozenset(
    {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"}
)
BYTE_KINDS: Final = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
OF_BYTES: Final = {
    "char": "binary", "varchar": "varbinary", "tinytext": "tinyblob", "text": "blob",
    "mediumtext": "mediumblob", "longtext": "longblob",
}  # fmt: skip
"""Character kind → kind of bytes that it becomes in the character set `binary`."""
TEXTS: Final = ("tinytext", "text", "mediumtext", "longtext")
LONGEST_VARCHAR: Final = 0xFFFF
"""Largest size of VARCHAR and VARBINARY in bytes."""
UNICODE: Final = frozenset({"utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32"})
"""Character sets that have all characters of all other sets."""
CODECS: Final = {
    "ascii": "ascii", "latin1": "cp1252", "latin2": "iso8859_2", "latin5": "iso8859_9",
    "latin7": "iso8859_13", "greek": "iso8859_7",
    "hebrew": "iso8859_8", "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256",
    "cp1257": "cp1257", "cp850": "cp850",
    "cp852": "cp852", "cp866": "cp866", "koi8r": "koi8_r", "koi8u": "koi8_u", "gb2312": "gb2312",
    "gbk": "gbk", "gb18030": "gb18030",
    "big5": "big5", "sjis": "shift_jis", "cp932": "cp932", "ujis": "euc_jp", "eucjpms": "euc_jp",
    "euckr": "euc_kr", "tis620": "tis_620",
}  # fmt: skip
"""Python's codecs of character sets, to check whether a set has a character."""
WIDE: Final = frozenset({"ucs2", "utf16", "utf16le", "utf32"})
"""Character sets in which an ASCII character has more than one byte."""
TEXT_BYTES: Final = (0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF)

MEASURED: Final = frozenset(
    {"decimal", "char", "varchar", "binary", "varbinary", "bit", "time", "datetime", "timestamp"}
)
"""Kinds whose lengths are in table maps. The lengths of other kinds are only display widths."""
DEFAULT_MEASURES: Final = {"decimal": (10, 0), "char": (1,), "binary": (1,), "bit": (1,)}

LONGEST_CHARACTER: Final = {
    "utf8mb3": 3, "utf8mb4": 4, "ucs2": 2, "utf16": 4, "utf16le": 4, "utf32": 4, "gbk": 2,
    "gb2312": 2, "gb18030": 4,
    "big5": 2, "sjis": 2, "cp932": 2, "ujis": 3, "eucjpms": 3, "euckr": 2,
}  # fmt: skip
"""Bytes of the longest character of character sets; 1 for those not listed
(information_schema.CHARACTER_SETS).
"""


def charset_name(written: str) -> str:
    """Return the name of a character set as table maps write it.

    `utf8` is the old three-byte character set on every supported server.
    """
    name = written.lower()
    return "utf8mb3" if name in ("utf8", "utf8mb3") else name


def charset_of_collation_name(collation: str) -> str | None:
    """Return the character set that the name of a collation begins with.

    None if the name begins with no character set, such as MariaDB's `uca1400_ai_ci` or `DEFAULT`.
    """
    name = collation.lower()
    if name == "binary":
        return "binary"
    head, _, rest = name.partition("_")
    return charset_name(head) if rest and head not in ("uca1400", "nopad") else None
