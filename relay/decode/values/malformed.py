"""The one exception of this package for bytes that contradict themselves.

Its border turns it into CorruptEvent.
"""


class Malformed(ValueError):
    """Bytes contradict their own header or length; the text names the contradiction."""
