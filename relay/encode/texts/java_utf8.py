"""How Java decodes bytes that are not UTF-8: U+FFFD for each malformed part (new String(bytes,
UTF_8), JDK 17).

Parts are cut as Python cuts them, but for encoded surrogates: Java takes their two or three bytes
as one part, Python each byte.
"""

import re
from typing import Final

_ENCODED_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT: Final = "\ufffd".encode()


def java_utf8(raw: bytes) -> str:
    """Return the text that Java makes of the bytes."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _ENCODED_SURROGATE.sub(_REPLACEMENT, raw).decode(errors="replace")
