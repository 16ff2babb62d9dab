"""Decodes invalid UTF-8 as Java does: U+FFFD for each malformed part (new String(bytes, UTF_8), JDK
17).

Java and Python split the bytes into the same parts, except for encoded surrogates. Two or three of
their bytes are one part in Java. In Python each byte is a part.
"""

import re
from typing import Final

_ENCODED_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT: Final = "\ufffd".encode()


def java_utf8(raw: bytes) -> str:
    """Return the text that Java decodes from the bytes."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _ENCODED_SURROGATE.sub(_REPLACEMENT, raw).decode(errors="replace")
