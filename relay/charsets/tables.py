"""Differences between the server's character sets and Python's codecs, and sets that Python lacks.

Source: `SELECT CONVERT(_charset x'..' USING utf8mb4)` over all codes of MariaDB 10.11; its answers
are in tests/golden.
"""

from typing import Final

CODECS: Final = {
    "utf8": "utf-8",
    "utf8mb3": "utf-8",
    "utf8mb4": "utf-8",
    "ascii": "ascii",
    "ucs2": "utf-16-be",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin7": "iso8859-13",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "koi8r": "koi8-r",
    "macce": "mac-latin2",
    "macroman": "mac-roman",
    "tis620": "tis-620",
    "hp8": "hp-roman8",
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
    "cp932": "cp932",
    "euckr": "cp949",
}

SINGLE_BYTE: Final = frozenset(
    {
        "ascii",
        "latin2",
        "latin5",
        "latin7",
        "cp1250",
        "cp1251",
        "cp1256",
        "cp1257",
        "cp850",
        "cp852",
        "koi8r",
        "macce",
        "macroman",
    }
    | {"tis620", "hp8"}
)
"""The character sets of CODECS with one byte for each character."""

_LOWER_KEYBCS2: Final = "ČüéďäĎŤčěĚĹÍľĺÄÁÉžŽôöÓůÚýÖÜŠĽÝŘťáíóúňŇŮÔšřŕŔ¼¡«»"
_ARMENIAN: Final = "❁§\u0589)(»«—.\u055d,-՟…՜՛՞ԱաԲբԳգԴդԵեԶզԷէԸըԹթԺժԻիԼլԽխԾծԿկՀհՁձՂղՃճՄմՅյՆնՇշՈոՉչՊպՋջՌռՍսՎվՏտՐրՑցՒւՓփՔքՕօՖֆ\u2019'"  # noqa: E501
_GEORGIAN: Final = "აბგდევზჱთიკლმნჲოპჟრსტჳუფქღყშჩცძწჭხჴჯჰჵ"

# Single-byte sets: the nearest codec, and the bytes that the server reads otherwise.
BASED_ON: Final[dict[str, tuple[str, dict[int, str]]]] = {
    "latin1": ("cp1252", {byte: chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}),
    "dec8": ("latin-1", {0xA8: "¤", 0xD7: "Œ", 0xDD: "Ÿ", 0xF7: "œ", 0xFD: "ÿ"}),
    "swe7": ("ascii", dict(zip(b"@[\\]^`{|}~", "ÉÄÖÅÜéäöåü", strict=True))),
    "greek": ("iso8859-7", {0xA1: "\u02bd", 0xA2: "\u02bc"}),
    "hebrew": ("iso8859-8", {0xAF: "‾"}),
    "cp866": ("cp866", {0xFC: "ⁿ", 0xFD: "²"}),
    "koi8u": ("koi8-u", {0x95: "•"}),
    "geostd8": ("cp1252", dict(enumerate(_GEORGIAN, 0xC0)) | {0xFD: "№"}),
    "keybcs2": ("cp437", dict(enumerate(_LOWER_KEYBCS2, 0x80))),
    "armscii8": ("latin-1", dict(enumerate(_ARMENIAN, 0xA1))),
}

UNDEFINED: Final = "\ufffe"
"""The entry of a `codecs.charmap_decode` table for a byte without a character."""

# Multi-byte sets: the codec, and the characters that the server reads otherwise.
TRANSLATED: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "big5": ("big5", {}),
    "sjis": ("shift_jis", {"\uff3c": "\\"}),
    "ujis": ("euc_jp", {"\uff3c": "\\"}),
    "eucjpms": (
        "euc_jp",
        {
            "\u301c": "\uff5e",
            "‖": "∥",
            "\u2212": "\uff0d",
            "¢": "￠",
            "£": "￡",
            "¬": "￢",
            "¦": "￤",
        },
    ),
}

# Characters that the servers have and the codecs above lack, by their codes.
BIG5_ETEN: Final = dict(enumerate("碁銹裏墻恒粧嫺", 0xF9D6))
EUC_IBM: Final = (
    "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ\uff07\uff02㈱№℡炻仼僴凬匇匤﨎咊坙﨏塚增寬峵嵓﨑德悅愠敎昻晥晴朗栁﨓﨔橫"
    "櫢淸淲瀨凞猪甁皂皞益礰礼神祥福竧靖精綠緖羽荢﨟薰蘒﨡蠇諸譿賴赶﨣﨤逸郞都鄕﨧﨨閒隆﨩霻靍靑飯飼館馞髙魲鶴黑"
)
EUC_CELLS: Final = 94
EUC_USER_ROW: Final = 0xF5
EUC_USER_PLANES: Final = {2: 0xE000, 3: 0xE3AC}
EUC_IBM_FIRST: Final = (0xF3 - 0xA1) * EUC_CELLS + 0xF3 - 0xA1
