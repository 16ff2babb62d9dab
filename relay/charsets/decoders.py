"""Decoders of the servers' character sets: from stored bytes to the text that the server prints."""

import codecs
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from relay.charsets.tables import (
    BASED_ON,
    BIG5_ETEN,
    CODECS,
    EUC_CELLS,
    EUC_IBM,
    EUC_IBM_FIRST,
    EUC_USER_PLANES,
    EUC_USER_ROW,
    SINGLE_BYTE,
    TRANSLATED,
    UNDEFINED,
)

Decoder: TypeAlias = Callable[[bytes], str]


@lru_cache
def decoder(charset: str) -> Decoder | None:
    """Return the decoder of a character set, None for an unknown one. `charset` is the server's
    name.

    The decoder raises UnicodeDecodeError for bytes that are invalid in the character set.
    """
    if charset in CODECS:
        return _by_codec(CODECS[charset], "strict")
    if charset in BASED_ON:
        return _by_table(_table(charset), "strict")
    return _by_translation(charset, "strict") if charset in TRANSLATED else None


@lru_cache
def lenient_decoder(charset: str) -> Decoder | None:
    """Return a decoder of a character set that replaces invalid bytes with U+FFFD; None for an
    unknown character set.
    """
    if charset in CODECS:
        return _by_codec(CODECS[charset], "replace")
    if charset in BASED_ON:
        return _by_table(_table(charset), "replace")
    return _by_translation(charset, "replace") if charset in TRANSLATED else None


def is_utf8(charset: str) -> bool:
    """Return whether a character set is UTF-8. `charset` is the server's name."""
    return CODECS.get(charset) == "utf-8"


@lru_cache
def byte_characters(charset: str) -> tuple[str | None, ...] | None:
    """Return the 256 characters of a single-byte character set, None for every other set.

    An entry is None if the byte has no character.
    """
    if charset not in BASED_ON and charset not in SINGLE_BYTE:
        return None
    decode = decoder(charset)
    return tuple(_character(decode, byte) for byte in range(256)) if decode is not None else None


def _character(decode: Decoder, byte: int) -> str | None:
    try:
        return decode(bytes((byte,)))
    except UnicodeDecodeError:
        return None


def _by_codec(codec: str, errors: str) -> Decoder:
    decode = codecs.getdecoder(codec)
    if codec == "utf-8" and errors == "strict":
        return bytes.decode
    return lambda raw: decode(raw, errors)[0]


def _by_table(table: str, errors: str) -> Decoder:
    return lambda raw: codecs.charmap_decode(raw, errors, table)[0]


@lru_cache
def _table(charset: str) -> str:
    """Return the 256 characters of a single-byte set; UNDEFINED for a byte without one."""
    codec, otherwise = BASED_ON[charset]
    characters = (
        bytes((byte,)).decode(codec, "replace").replace("\ufffd", UNDEFINED) for byte in range(256)
    )
    return "".join(otherwise.get(byte, character) for byte, character in enumerate(characters))


def _by_translation(charset: str, errors: str) -> Decoder:
    codec, otherwise = TRANSLATED[charset]
    decode = codecs.getdecoder(codec)
    table = str.maketrans(otherwise)
    handler = f"relay.{charset}.{errors}"
    codecs.register_error(handler, lambda exc: _known_to_the_server(exc, charset, errors))

    def decoded(raw: bytes) -> str:
        if charset == "eucjpms":
            # A wide tilde is the only character that Python's codec has at another code. 0x8F
            # occurs only as the first byte of a code.
            raw = raw.replace(b"\x8f\xa2\xb7", b"\xa1\xc1")
        return decode(raw, handler)[0].translate(table)

    return decoded


def _known_to_the_server(error: UnicodeError, charset: str, errors: str) -> tuple[str, int]:
    """Error handler of a codec: return (the server's character for the bytes, the offset after
    them).

    If the server has no such character either, handle the error as `errors` says.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    raw, start = error.object, error.start
    width = 3 if charset != "big5" and raw[start : start + 1] == b"\x8f" else 2
    code = bytes(raw[start : start + width])
    character = _big5_character(code) if charset == "big5" else None
    if charset in ("ujis", "eucjpms") and len(code) == width:
        character = _euc_character(code, charset)
    if character is not None:
        return character, start + width
    if errors == "strict":
        raise error
    return "\ufffd", error.end


def _big5_character(code: bytes) -> str | None:
    return BIG5_ETEN.get(int.from_bytes(code, "big"))


def _euc_character(code: bytes, charset: str) -> str | None:
    """Return the character of a code that Python's codec lacks, None if the server lacks it too.

    These are user-defined characters of both planes and, in eucjpms, the vendors' rows, which cp932
    has at other codes.
    """
    row, cell = code[-2] - 0xA1, code[-1] - 0xA1
    if not (0 <= row < EUC_CELLS and 0 <= cell < EUC_CELLS):
        return None
    if code[-2] >= EUC_USER_ROW:
        return chr(EUC_USER_PLANES[len(code)] + (code[-2] - EUC_USER_ROW) * EUC_CELLS + cell)
    if charset != "eucjpms":
        return None
    index = row * EUC_CELLS + cell - EUC_IBM_FIRST
    if len(code) == 3:
        return EUC_IBM[index] if 0 <= index < len(EUC_IBM) else None
    trail = cell + 0x40 + (cell >= 0x3F) if row % 2 == 0 else cell + 0x9F
    return bytes((row // 2 + 0x81, trail)).decode("cp932", "ignore") or None
