"""Maps collation numbers of both server families to names of character sets.

One table serves both families: MySQL's numbers are below 2048, and MariaDB's additional numbers
differ from them. MariaDB numbers a NOPAD collation by adding 1024 to the number of the same
collation with padding. Its uca1400 collations begin at 2048, with 256 numbers for each character
set. Source: information_schema.COLLATIONS and COLLATION_CHARACTER_SET_APPLICABILITY of both
servers; a test compares.
"""

from typing import Final

_NOPAD_OFFSET: Final = 1024
_UCA1400_FIRST: Final = 2048
_UCA1400_NUMBERS_PER_CHARSET: Final = 256
_UCA1400_CHARSETS: Final = ("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")

_SINGLES: Final[dict[str, tuple[int, ...]]] = {
    "big5": (1, 84),
    "latin2": (2, 9, 21, 27, 77),
    "dec8": (3, 69),
    "cp850": (4, 80),
    "latin1": (5, 8, 15, 31, 47, 48, 49, 94),
    "hp8": (6, 72),
    "koi8r": (7, 74),
    "swe7": (10, 82),
    "ascii": (11, 65),
    "ujis": (12, 91),
    "sjis": (13, 88),
    "cp1251": (14, 23, 50, 51, 52),
    "hebrew": (16, 71),
    "filename": (17,),
    "tis620": (18, 89),
    "euckr": (19, 85),
    "latin7": (20, 41, 42, 79),
    "koi8u": (22, 75),
    "gb2312": (24, 86),
    "greek": (25, 70),
    "cp1250": (26, 34, 44, 66, 99),
    "gbk": (28, 87),
    "cp1257": (29, 58, 59),
    "latin5": (30, 78),
    "armscii8": (32, 64),
    "utf8mb3": (33, 76, 83, 223),
    "ucs2": (35, 90, 159),
    "cp866": (36, 68),
    "keybcs2": (37, 73),
    "macce": (38, 43),
    "macroman": (39, 53),
    "cp852": (40, 81),
    "utf8mb4": (45, 46),
    "utf16": (54, 55),
    "utf16le": (56, 62),
    "cp1256": (57, 67),
    "utf32": (60, 61),
    "binary": (63,),
    "geostd8": (92, 93),
    "cp932": (95, 96),
    "eucjpms": (97, 98),
    "gb18030": (248, 249, 250),
}

_RANGES: Final[tuple[tuple[int, int, str], ...]] = (
    (101, 124, "utf16"),
    (128, 151, "ucs2"),
    (160, 183, "utf32"),
    (192, 215, "utf8mb3"),
    (224, 247, "utf8mb4"),
    (255, 323, "utf8mb4"),
    (576, 607, "utf8mb3"),
    (608, 639, "utf8mb4"),
    (640, 671, "ucs2"),
    (672, 703, "utf16"),
    (736, 767, "utf32"),
)


def _numbers() -> dict[int, str]:
    table = {number: charset for charset, numbers in _SINGLES.items() for number in numbers}
    for first, last, charset in _RANGES:
        table.update(dict.fromkeys(range(first, last + 1), charset))
    return table


_CHARSETS: Final = _numbers()


def charset_of_collation(number: int) -> str | None:
    """Return the character set that collation `number` belongs to, None if no known server has the
    number.
    """
    if number >= _UCA1400_FIRST:
        index = (number - _UCA1400_FIRST) // _UCA1400_NUMBERS_PER_CHARSET
        return _UCA1400_CHARSETS[index] if index < len(_UCA1400_CHARSETS) else None
    charset = _CHARSETS.get(number)
    if charset is None and number > _NOPAD_OFFSET:
        return _CHARSETS.get(number - _NOPAD_OFFSET)
    return charset
