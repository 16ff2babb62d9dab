"""Texts as JSON strings. Every text is held as one character a byte of its UTF-8 form: such strings are cut and joined fastest.

The JSON escapes are those of ASCII characters, so that they are the same in this form.
"""

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Final

from relay.generated.tables import Refused

BYTES_AS_TEXT: Final = "latin-1"
_ASCII: Final = range(128)

quoted = encode_basestring
"""Return a text with quotes around it and the escapes of JSON."""


def held(text: str) -> str:
    """Return a text in the form of this module. Raises UnicodeEncodeError for lone surrogates."""
    return text if text.isascii() else text.encode().decode(BYTES_AS_TEXT)


def table_text(characters: tuple[bytes | None, ...]) -> Callable[[str], str]:
    """Return what prints the bytes of a set of at most 256 characters, each as its JSON text. It raises Refused for other bytes."""
    known = {chr(code): character.decode(BYTES_AS_TEXT) for code, character in enumerate(characters) if character is not None}
    is_ascii = all(known.get(chr(code)) == quoted(chr(code))[1:-1] for code in _ASCII)

    def text(raw: str) -> str:
        if is_ascii and raw.isascii():
            return quoted(raw)
        try:
            return f'"{"".join([known[character] for character in raw])}"'
        except KeyError:
            raise Refused from None

    return text
