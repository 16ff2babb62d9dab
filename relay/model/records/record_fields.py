"""Parts of the JSON of a position record."""

from typing import Any

from relay.model.positions.position import BinlogPosition, OrderPair


def position_fields(value: object) -> dict[str, Any]:
    """Return a position or order key as JSON fields. Raises TypeError for anything else."""
    if isinstance(value, BinlogPosition | OrderPair):
        return value._asdict()
    raise TypeError(f"{type(value)} has no place in a position record")


def leave_out_unknown(fields: dict[str, Any]) -> None:
    """Take `last` out of positions where it is not known.

    A relay that does not know the field ignores it.
    """
    for standing in (fields, *fields.get("others", {}).values()):
        for position in (standing["source"], standing.get("names")):
            if position is not None and position["last"] is None:
                del position["last"]
