"""Errors of events and rows that stop the instance."""

from collections.abc import Mapping
from typing import Any

from relay.errors.base import Stop


class CorruptEvent(Stop):
    """The bytes of an event do not match their checksum, length or format."""

    code = "CORRUPT_EVENT"
    remedy = "Check the binlog with mysqlbinlog --verify-binlog-checksum at the coordinates named."


class UnknownEvent(Stop):
    """The binlog has an event of a type that this relay cannot read. It may contain changes."""

    code = "UNKNOWN_EVENT"
    remedy = "Upgrade the relay: the server's binlog format is newer than this version."


class UnsupportedEvent(Stop):
    """The event is known but cannot be published correctly."""

    code = "UNSUPPORTED_EVENT"


class PreparedUnknown(Stop):
    """An XA COMMIT belongs to rows that were prepared before the start position."""

    code = "PREPARED_UNKNOWN"
    remedy = (
        "If the source still has the XA PREPARE, set the position before it (`roma position "
        "set`). Otherwise skip the transaction (`roma position skip`), then copy the tables that "
        "it changed again."
    )


class SavepointRolledBack(Stop):
    """An earlier version of the relay published a part of a transaction and may have counted
    rolled-back rows in it.
    """

    code = "SAVEPOINT_ROLLED_BACK"
    remedy = (
        "Set the position before this transaction (`roma position set`): all of it is published "
        "again. Then compare the copies of its tables with the source (`roma reconcile --repair`), "
        "because rolled-back rows may be in them."
    )


class SchemaMismatch(Stop):
    """The table map in the binlog differs from the known columns of the table."""

    code = "SCHEMA_MISMATCH"
    remedy = (
        "Set the position after the last ALTER of the table (`roma position set`), or leave the "
        "table out by filter_black_regex; then copy the table again."
    )


class RowImageIncomplete(Stop):
    """A row lacks columns (binlog_row_image MINIMAL or NOBLOB; generated columns of MariaDB
    11.8.9).
    """

    code = "ROW_IMAGE_INCOMPLETE"
    remedy = (
        "Set binlog_row_image=FULL for every session of the source, or set message.row_image = "
        "'partial' if all consumers can merge partial rows. MariaDB 11.8.9 omits generated columns "
        "from updates even with FULL: leave those columns out by a rule (without_fields)."
    )


class UnmappedName(Stop):
    """A change belongs to a database or table without a mapping, and the settings stop the instance
    for such names.
    """

    code = "UNMAPPED_NAME"
    remedy = (
        "Add the name to the mapping documents and save them. Or set routing.unmapped_db or "
        "routing.unmapped_table to 'drop', and start again."
    )


class RuleRefused(Stop):
    """A rule, mask or transform does not fit the columns of a table."""

    code = "RULE_REFUSED"
    remedy = "Correct the rule, mask or transform for this table, then start again."


class TransformFailed(Stop):
    """A transform raised an error on a row, or returned a value that its column cannot hold."""

    code = "TRANSFORM_FAILED"
    remedy = (
        "Correct the function and start again, or set oversize to dead_letter to continue after "
        "such rows."
    )


class ValueNotPrintable(Stop):
    """A row was read, but one of its values cannot be encoded in a message."""

    code = "VALUE_NOT_PRINTABLE"
    remedy = (
        "Set oversize to dead_letter and start again. Or correct the row at the source, set the "
        "position after this change (`roma position set`), and publish the row again (`roma "
        "snapshot`)."
    )


class PrinterFailed(Stop):
    """A bug of the relay: encoding an event raised an unexpected exception.

    `evidence` maps names to the values that a bug report needs to reproduce it; empty if nothing
    was kept.
    """

    code = "PRINTER_FAILED"
    remedy = (
        "To continue now: set row_printer = 'readable' for the instance, or leave the table out by "
        "filter_black_regex, and start again. Then report the bug with the file that the reason "
        "names; the file contains rows."
    )

    def __init__(self, reason: str, evidence: Mapping[str, Any]) -> None:
        super().__init__(reason)
        self.evidence = evidence
