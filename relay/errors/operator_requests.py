"""Errors that refuse the request of an operator."""

from collections.abc import Collection

from relay.errors.base import RelayError


class PlacementRefused(RelayError):
    """The relay or server that an instance should move to cannot run it now; nothing was
    changed.
    """

    code = "PLACEMENT_REFUSED"
    remedy = "Choose another one, or do first what the reason asks for."


class AccountRefused(RelayError):
    """The requested change of a user or a token of the admin is not possible; nothing was
    changed.
    """

    code = "ACCOUNT_REFUSED"
    remedy = "See `roma users list` and `roma tokens list`; nothing was changed."


class MoveRefused(RelayError):
    """The requested change of a position is not possible; nothing was changed."""

    code = "MOVE_REFUSED"
    remedy = "Ask for what the reason names; nothing was changed."


class SourceNotNamed(RelayError):
    """A request does not name its source of a group, names an unknown one, or names the only source
    of an instance.

    `known` are the names of the group's sources; it is empty if the instance reads only one.
    """

    code = "SOURCE_NOT_NAMED"
    remedy = "Name one of the sources that the reason lists; nothing was changed."

    def __init__(
        self, reason: str, known: Collection[str] = (), *, remedy: str | None = None
    ) -> None:
        super().__init__(reason, remedy=remedy)
        self.known = tuple(known)

    def asked_with(self, parameter: str) -> "SourceNotNamed":
        """Return this error with a remedy that names the flag or field to use."""
        remedy = f"Name one of these with {parameter}." if self.known else f"Leave {parameter} out."
        return SourceNotNamed(self.reason, self.known, remedy=remedy)


class BackupRefused(RelayError):
    """A backup cannot be written or restored."""

    code = "BACKUP_REFUSED"
    remedy = "Correct what the reason names."


class AuditUnreadable(RelayError):
    """An entry of the audit trail cannot be parsed, or an open transaction hides committed
    entries.
    """

    code = "AUDIT_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and ask again."


class DeadLetterUnknown(RelayError):
    """No dead letter has this id."""

    code = "DEAD_LETTER_UNKNOWN"
    remedy = "Read the ids with `roma dead-letter list`."


class DeadLettersUnreadable(RelayError):
    """An open transaction hides committed dead letters."""

    code = "DEAD_LETTERS_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and ask again."


class DeadLetterDamaged(RelayError):
    """A dead letter cannot be read: a part is missing, damaged or of an unknown format."""

    code = "DEAD_LETTER_DAMAGED"
    remedy = (
        "Check retention of the dead letters' topic; the row is still at the source and in its "
        "binlog, at the position named there."
    )


class ReplayRefused(RelayError):
    """A dead letter cannot be sent: it contains no message, or was sent before."""

    code = "REPLAY_REFUSED"
    remedy = "Nothing was sent. Bring the row from the source, or ask for sending it again."


class VersionConflict(RelayError):
    """The document was changed since it was read."""

    code = "VERSION_CONFLICT"
    remedy = "Read it again, apply the change to what is there now, and save with its version."


class NodeMissing(RelayError):
    """The ZooKeeper node does not exist."""

    code = "NODE_MISSING"
    remedy = "Check the name; nothing was changed."
