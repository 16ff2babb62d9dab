"""Errors that refuse the request of an operator."""

from collections.abc import Collection

from relay.errors.base import RelayError


class PlacementRefused(RelayError):
    """The relay or server that an instance should move to cannot run it now; nothing was
    changed.
    """

    code = "PLACEMENT_REFUSED"
    remedy = "Choose another one, or remove the obstacle in the reason first."


class AccountRefused(RelayError):
    """The requested change of a user or a token of the admin is not possible; nothing was
    changed.
    """

    code = "ACCOUNT_REFUSED"
    remedy = "Nothing was changed. Read `roma users list` and `roma tokens list`, and try again."


class MoveRefused(RelayError):
    """The requested change of a position, end of an instance or acceptance of a mapping set is not
    possible; nothing was changed.
    """

    code = "MOVE_REFUSED"
    remedy = "Nothing was changed. Remove the obstacle in the reason, or change the request."


class TableReturnsEarly(RelayError):
    """A mapping set gives tables a topic again, and some instances still publish to that topic
    under an older set: one from before the tables left it.

    A save of such a set is refused. An instance that finds such a set in ZooKeeper keeps the set
    before it. `instances` are the instances with the older set.
    """

    code = "TABLE_RETURNS_EARLY"
    remedy = (
        "Wait until the instances in the reason publish under the newest set: start those that "
        "are stopped or paused. If one is permanently removed: `roma instance retire NAME`."
    )

    def __init__(self, database: str, topic: str, number: int, instances: Collection[str]) -> None:
        self.instances = tuple(instances)
        names = ", ".join(self.instances)
        super().__init__(
            f"Mapping set {number} gives tables of {database} topic {topic} again. These instances "
            f"have not published yet under the set that took it away: {names}. Consumers would "
            "read rows of other instances out of order."
        )


class SourceNotNamed(RelayError):
    """A request about a group does not name a source of the group, or a request about a single
    source names another source.

    `known` are the names of the group's sources; empty for a single source.
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
    remedy = "Correct the error in the reason, then repeat the command."


class AuditUnreadable(RelayError):
    """An entry of the audit trail cannot be parsed, or an open transaction hides committed
    entries.
    """

    code = "AUDIT_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and repeat the request."


class NothingToPeek(RelayError):
    """There is no logical table of this name, no topic for it yet, or all of its topics have
    another format than the command reads.
    """

    code = "NOTHING_TO_PEEK"
    remedy = "Name a logical table as database.table; GET /api/v1/mappings/logical lists them."


class ReplayRefused(RelayError):
    """A dead letter cannot be sent: it contains no message, was sent before, or the topic has
    newer changes of the row or another format since. The reason says which.
    """

    code = "REPLAY_REFUSED"
    remedy = (
        "Nothing was sent. If the letter was sent before and its message is still needed, repeat "
        "the request with --again (REST: again). If it has no message, publish the row again from "
        "the source (`roma snapshot start TABLE --where …`)."
    )


class VersionConflict(RelayError):
    """The document was changed since it was read."""

    code = "VERSION_CONFLICT"
    remedy = (
        "Read the document again, apply the change to it, and save it with the version that was "
        "read."
    )


class NodeMissing(RelayError):
    """The ZooKeeper node does not exist."""

    code = "NODE_MISSING"
    remedy = "Check the name; nothing was changed."


class SnapshotRefused(RelayError):
    """A table cannot be copied into its topic as requested; the stream continues."""

    code = "SNAPSHOT_REFUSED"
    remedy = "The stream is not affected. Remove the obstacle in the reason, or change the request."
