"""Sentences that a page shows after an act, by the key that its address carries.

The address carries a key and no text: a link made by somebody else shows no text of theirs.
"""

from collections.abc import Mapping
from typing import Final

DONE: Final[Mapping[str, str]] = {
    "mapping-saved": "The set is saved. Relays use it with the next source transaction.",
}
"""Key in the query parameter `done` → sentence."""
