"""Reads and writes the metadata of a subscription's commits: the table that is read, and where the
table moved.
"""

import json
from typing import Any, Final, NamedTuple

from roma_client.records.change import Order
from roma_client.records.moved import Departure
from roma_client.records.order_guard import LastChange

_VERSION: Final = 1
_LAST: Final = "last"


class CommitNote(NamedTuple):
    """The metadata that a client writes with the committed offset of one partition.

    table         `database.table` that the group reads
    after         number of the mapping set that moved the table to the topic; 0 for the first topic
    first_marker  offset of the first marker before the committed offset: reading begins there, to
                  read all markers again. None: reading begins at the committed offset
    left          to which topic the table moved, if everything before the move is acknowledged
    by_hand       whether the service itself named the topic; its client then follows no moves
    since         number of the set that had routed the table to the topic when the group began;
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
        """Return what this client wrote into a commit's metadata `text`; None if another program
        made the commit.
        """
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
    """Return the metadata `text` of a commit with the last change before its offset added. `last`
    None: there is no such change, and the text is returned unchanged.
    """
    if last is None:
        return text
    fields: dict[str, Any] = json.loads(text or "{}")
    return json.dumps({**fields, _LAST: [last.key, *last.order]})


def last_of(text: str | None) -> LastChange | None:
    """Return the last change before the offset of a commit; None if its metadata does not have
    it.
    """
    try:
        key, time, position = json.loads(text or "")[_LAST]
        return LastChange(str(key), Order(int(time), int(position)))
    except (ValueError, KeyError, TypeError):
        return None
