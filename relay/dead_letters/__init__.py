"""Dead letters: messages that could not be published, stored whole until an operator replays
them.
"""

from relay.dead_letters.dead_letter import DeadLetter
from relay.dead_letters.found_records import Replay
from relay.dead_letters.later_changes import LaterChanges, later_changes
from relay.dead_letters.later_rows import LastOfKey, check_form, forgets_after_ms, last_of_key
from relay.dead_letters.topic import (
    DamagedDeadLetter,
    DeadLetterList,
    DeadLetterTopic,
    ListedDeadLetter,
    letters_prefix,
)
from relay.dead_letters.value_formats import formats_of

__all__ = [
    "DamagedDeadLetter",
    "DeadLetter",
    "DeadLetterList",
    "DeadLetterTopic",
    "LastOfKey",
    "LaterChanges",
    "ListedDeadLetter",
    "Replay",
    "check_form",
    "forgets_after_ms",
    "formats_of",
    "last_of_key",
    "later_changes",
    "letters_prefix",
]
