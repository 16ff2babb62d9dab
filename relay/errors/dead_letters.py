"""Errors of reading the topic of dead letters."""

from relay.errors.base import RelayError


class DeadLetterUnknown(RelayError):
    """No dead letter has this id."""

    code = "DEAD_LETTER_UNKNOWN"
    remedy = "Read the ids with `roma dead-letter list`."


class DeadLettersUnreadable(RelayError):
    """An open transaction hides committed dead letters."""

    code = "DEAD_LETTERS_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and repeat the request."


class DeadLetterDamaged(RelayError):
    """A dead letter cannot be read: a part is missing, damaged or of an unknown format."""

    code = "DEAD_LETTER_DAMAGED"
    remedy = (
        "Find the table of the letter by its id in the relay's log (entries dead_letter), and "
        "publish the row again from the source (`roma snapshot start TABLE --where …`). Then set "
        "the topic of the dead letters to unlimited retention."
    )
