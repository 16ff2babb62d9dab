"""The one signal inside this room that bytes contradict themselves.

Its border turns it into CorruptEvent.
"""


class Malformed(ValueError):
    """The bytes at hand cannot be what they claim; the text says which claim fails."""
