"""Texts of ENUM and SET members, which the table map holds in each column's own character set."""

from typing import Final

from relay.decode.malformed import Malformed

# The server's names and Python's codecs for them. latin1 is cp1252 on the server, with C1 controls in its five holes.
_CODECS: Final = {
    "armscii8": "ascii",
    "binary": "latin-1",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "cp932": "cp932",
    "euckr": "cp949",
    "eucjpms": "euc_jp",
    "gb18030": "gb18030",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "greek": "iso8859-7",
    "hebrew": "iso8859-8",
    "big5": "big5",
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
    "latin2": "iso8859-2",
    "latin5": "iso8859-9",
    "latin7": "iso8859-13",
    "macce": "mac_latin2",
    "macroman": "mac_roman",
    "sjis": "shift_jis",
    "tis620": "tis-620",
    "ucs2": "utf-16-be",
    "ujis": "euc_jp",
    "utf16": "utf-16-be",
    "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
    "utf8mb3": "utf-8",
    "utf8mb4": "utf-8",
}


def label_text(raw: bytes, charset: str | None) -> str:
    """Return a member's text; Malformed where its bytes are none of its character set.

    Character sets that Python has no codec for (dec8, geostd8, hp8, keybcs2, swe7) serve for ASCII members only.
    """
    if charset == "latin1":
        return "".join(map(_latin1_character, raw))
    try:
        return raw.decode(_CODECS.get(charset or "utf8mb4", "ascii"))
    except UnicodeDecodeError as exc:
        raise Malformed(f"label {raw.hex()} is no {charset} text") from exc


def _latin1_character(byte: int) -> str:
    try:
        return bytes((byte,)).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)
