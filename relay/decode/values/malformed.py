"""The only exception of this package, for bytes that contradict themselves.

`relay.decode` turns it into CorruptEvent, with the coordinates of the event.
"""


class Malformed(ValueError):
    """Bytes contradict their own header or length. The message names the contradiction."""
