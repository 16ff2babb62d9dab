"""Dead letters: what could not be published, whole, until somebody sends it again."""

from relay.dead_letters.dead_letter import DeadLetter
from relay.dead_letters.topic import DeadLetterTopic, ListedDeadLetter, Replay

__all__ = ["DeadLetter", "DeadLetterTopic", "ListedDeadLetter", "Replay"]
