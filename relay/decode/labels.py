"""Decodes the members of ENUM and SET, which the table map contains in each column's own character
set.
"""

from typing import Final

from relay.charsets import decoder
from relay.decode.values.malformed import Malformed

_BINARY: Final = "binary"


def label_text(raw: bytes, charset: str) -> str:
    """Return the text of a member. `raw` are its bytes in `charset`.

    Raises Malformed if the bytes are invalid in the character set.
    """
    decode = decoder(charset)
    if decode is None:
        if charset == _BINARY:
            return raw.decode("latin-1")
        raise Malformed(f"the character set {charset} is unknown")
    try:
        return decode(raw)
    except UnicodeDecodeError as exc:
        raise Malformed(f"label {raw.hex()} is not valid {charset} text") from exc
