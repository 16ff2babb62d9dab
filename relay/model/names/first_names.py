"""Shortens a list of names for a sentence."""

from collections.abc import Sequence


def first_names(names: Sequence[object], most: int = 5) -> str:
    """Return the first `most` names, separated by commas, and the number of the others."""
    named = ", ".join(map(str, names[:most]))
    return f"{named} and {len(names) - most} more" if len(names) > most else named
