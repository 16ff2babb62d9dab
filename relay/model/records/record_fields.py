"""Converts parts of a position record to and from JSON."""

from typing import Any

from relay.model.positions.position import (
    BinlogPosition,
    LastTransaction,
    OrderPair,
    SourceIdentity,
    SourcePosition,
)
from relay.model.records.resume_fingerprint import Landmark, ResumeFingerprint


def position_fields(value: object) -> dict[str, Any]:
    """Return a position or order key as JSON fields. Raises TypeError for anything else."""
    if isinstance(value, BinlogPosition | OrderPair):
        return value._asdict()
    raise TypeError(f"{type(value)} cannot be stored in a position record")


def leave_out_unknown(fields: dict[str, Any]) -> None:
    """Remove `last` from positions whose last transaction is unknown.

    Relays that do not know the field ignore it.
    """
    for standing in (fields, *fields.get("others", {}).values()):
        for position in (standing["source"], standing.get("names")):
            if position is not None and position["last"] is None:
                del position["last"]


def source_from(fields: dict[str, Any]) -> SourcePosition:
    """Return the position of a source from its JSON fields."""
    last = fields.get("last")
    if last is not None:
        last = LastTransaction(**{**last, "begin": BinlogPosition(**last["begin"])})
    return SourcePosition(
        BinlogPosition(**fields["binlog"]),
        fields["gtid_set"],
        SourceIdentity(**fields["identity"]),
        last,
    )


def fingerprint_from(fields: dict[str, Any]) -> ResumeFingerprint:
    """Return the fingerprint of a position, from its JSON fields."""
    landmark = None if fields["landmark"] is None else Landmark(**fields["landmark"])
    return ResumeFingerprint(**{**fields, "ahead": tuple(fields["ahead"]), "landmark": landmark})
