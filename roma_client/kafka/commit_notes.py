"""The metadata of the commits of a subscription: which table it reads, and where the table left."""

import json
from typing import Any, Final, NamedTuple

from roma_client.records.change import Order
from roma_client.records.moved import Departure
from roma_client.records.order_guard import LastChange

_VERSION: Final = 1
_LAST: Final = "last"


class CommitNote(NamedTuple):
    """What a client wrote beside the committed offset of one partition.

    table         `database.table` that the group reads
    after         number of the mapping set that brought the table to the topic; 0 for the first one
    first_marker  offset of the first marker before the committed offset: reading begins there, to
                  meet all markers again. None: at the committed offset
    left          where the table went, once everything before was acknowledged
    by_hand       a service that named the topic itself read it; it follows no moves
    since         number of the set that had given the topic the table when the group began;
                  None: unknown
    """

    table: str
    after: int = 0
    first_marker: int | None = None
    left: Departure | None = None
    by_hand: bool = False
    since: int | None = None

    def text(self) -> str:
        """Return the metadata text of the commit."""
        fields: dict[str, Any] = {"roma": _VERSION, **self._asdict()}
        return json.dumps({name: each for name, each in fields.items() if each is not None})

    @classmethod
    def read(cls, text: str | None) -> "CommitNote | None":
        """Return the note of a commit; None for a commit of another program."""
        try:
            fields: Any = json.loads(text or "")
            if fields["roma"] != _VERSION:
                return None
            left = fields.get("left")
            return cls(
                str(fields["table"]),
                int(fields["after"]),
                fields.get("first_marker"),
                None if left is None else Departure(int(left[0]), str(left[1])),
                fields["by_hand"] is True,
                fields.get("since"),
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return None


def with_last(text: str, last: LastChange | None) -> str:
    """Return the metadata of a commit with the change before its offset."""
    if last is None:
        return text
    fields: dict[str, Any] = json.loads(text or "{}")
    return json.dumps({**fields, _LAST: [last.key, *last.order]})


def last_of(text: str | None) -> LastChange | None:
    """Return the change before the offset of a commit; None if its metadata has none."""
    try:
        key, time, position = json.loads(text or "")[_LAST]
        return LastChange(str(key), Order(int(time), int(position)))
    except (ValueError, KeyError, TypeError):
        return None
