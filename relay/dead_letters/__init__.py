"""Dead letters: what could not be published, whole, until somebody sends it again."""

from relay.dead_letters.letter import DeadLetter
from relay.dead_letters.topic import DeadLetterTopic, ListedLetter, Replay

__all__ = ["DeadLetter", "DeadLetterTopic", "ListedLetter", "Replay"]
