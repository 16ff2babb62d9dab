"""Errors of events and rows that stop the instance."""

from collections.abc import Mapping
from typing import Any

from relay.errors.stop import Stop


class CorruptEvent(Stop):
    """The bytes of an event do not match their checksum, length or format."""

    code = "CORRUPT_EVENT"
    remedy = "Check the binlog with mysqlbinlog --verify-binlog-checksum at the coordinates named."


class UnknownEvent(Stop):
    """The binlog holds an event type that this relay does not know; it may carry changes."""

    code = "UNKNOWN_EVENT"
    remedy = "Upgrade the relay; the server writes a binlog format that is newer than the relay."


class UnsupportedEvent(Stop):
    """The event is known but cannot be published correctly."""

    code = "UNSUPPORTED_EVENT"


class PreparedUnknown(Stop):
    """An XA COMMIT belongs to rows that were prepared before the start position."""

    code = "PREPARED_UNKNOWN"
    remedy = (
        "Start from a position before its XA PREPARE if the source still has it; else leave the "
        "transaction out (`roma position skip`) "
        "and copy the tables that it changed again."
    )


class SavepointRolledBack(Stop):
    """An earlier version published a part of a transaction, and may have counted rolled-back rows
    in it.
    """

    code = "SAVEPOINT_ROLLED_BACK"
    remedy = (
        "Set the position before this transaction (`roma position set`), which "
        "publishes all of it again, then compare the "
        "copies of its tables with the source (`roma reconcile --repair`): rolled-back "
        "rows may be in them."
    )


class SchemaMismatch(Stop):
    """The table map in the binlog differs from the known columns of the table."""

    code = "SCHEMA_MISMATCH"
    remedy = (
        "Start the instance from a position after the table's last change, or leave the table out "
        "by its filter and copy it again."
    )


class RowImageIncomplete(Stop):
    """A row lacks columns (binlog_row_image MINIMAL or NOBLOB; generated columns of MariaDB
    11.8.9).
    """

    code = "ROW_IMAGE_INCOMPLETE"
    remedy = (
        "Set binlog_row_image=FULL for every session of the source, or row_image='partial' for "
        "consumers that merge partial rows. "
        "MariaDB 11.8.9 logs no generated columns in updates with FULL either: leave those "
        "columns out by without_fields in a rule."
    )


class UnmappedName(Stop):
    """A change belongs to a database or table without a mapping, and the setting for such names is
    stop.
    """

    code = "UNMAPPED_NAME"
    remedy = "Add the name to the mapping documents, or set unmapped_db / unmapped_table to drop."


class RuleRefused(Stop):
    """A rule, mask or transform does not fit the columns of a new table."""

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
        "Correct the row's values at the source and start after it, or set oversize to "
        "dead_letter, then start again."
    )


class PrinterFailed(Stop):
    """A bug of the relay: encoding an event raised an unexpected exception.

    `evidence` contains what reproduces it; it is empty if nothing was kept.
    """

    code = "PRINTER_FAILED"
    remedy = (
        "Report the bug with the file named; it holds the event's rows. To continue before a new "
        "version: set row_printer = 'readable' "
        "for the instance, or leave the table out by its filter, and start again."
    )

    def __init__(self, reason: str, evidence: Mapping[str, Any]) -> None:
        super().__init__(reason)
        self.evidence = evidence
