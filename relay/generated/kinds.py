"""How a printer reads and prints a column."""

from enum import IntEnum


class Kind(IntEnum):
    """The numbers are those of the compiled printer (relay/compiled/memory.pxi)."""

    SIGNED = 0
    UNSIGNED = 1
    DECIMAL = 2
    DATE = 3
    DATETIME = 4
    TIMESTAMP = 5
    TIME = 6
    YEAR = 7
    UTF8 = 8
    TABLE = 9
    BASE64 = 10
    ENUM = 11
    SET = 12
    BIT = 13
    OTHER = 14
    FLOAT = 15
    DOUBLE = 16
    JSON = 17
