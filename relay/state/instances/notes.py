"""Notes about an instance: its first start, the tables that it has read, and the tables that its
mapping leaves out.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

from relay.state.json_object import JsonObject, write_json

# Largest number of listed names. One name with its reason takes about 150 bytes, so the node stays
# far below ZooKeeper's limit of 1 MiB.
DROPPED_NAMES_LISTED: Final = 2000
_LIKE_LISTED: Final = 1000
"""Largest number of listed names with a similar table, which takes up to 200 bytes more."""
# Largest number of listed tables. The names of database and table take at most 2 x 64 characters.
KNOWN_TABLES_LISTED: Final = 5000


@dataclass(frozen=True, slots=True)
class StartNote:
    """The coordinates where an instance started for the first time.

    The note proves that the instance ran before. If its position record is missing nevertheless,
    the instance must not start as a new one. `noted_ms` is Unix milliseconds.
    """

    file: str
    offset: int
    gtid_set: str = ""
    relay: str = ""
    noted_ms: int = 0

    def to_document(self) -> bytes:
        """Return the JSON document. It is written once, at the first start."""
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, value: bytes) -> "StartNote":
        """Return the note in a document. An unreadable document gives a note without coordinates,
        because it still proves the start.
        """
        fields = JsonObject.read(value)
        return cls(
            fields.text("file"),
            fields.whole("offset"),
            fields.text("gtid_set"),
            fields.text("relay"),
            fields.whole("noted_ms"),
        )


@dataclass(frozen=True, slots=True)
class DroppedName:
    """A real table that the mapping leaves out, and the reason.

    rows         its rows since the relay's start
    first_ms     when a relay first listed it, in Unix milliseconds; 0: unknown
    like         a published table with nearly the same columns, as its messages name it; "": none
    like_common  how many columns both tables have
    like_all     how many columns at least one of them has
    """

    name: str
    reason: str
    rows: int = 0
    first_ms: int = 0
    like: str = ""
    like_common: int = 0
    like_all: int = 0


def write_dropped(
    names: Iterable[DroppedName], before: bytes = b"", now_ms: int | None = None
) -> bytes:
    """Return the document of tables that are left out, those with the most rows first.

    Tables beyond DROPPED_NAMES_LISTED are only counted. A name that is in the document `before`
    keeps its first time; other names get the time `now_ms`. A relay starts with an empty list. So
    the document also keeps the newest of the times of names that are not listed now.
    """
    ordered = sorted(names, key=lambda dropped: (-dropped.rows, dropped.name))
    known = first_times(before)
    listed = [
        replace(each, first_ms=known.get(each.name) or each.first_ms or now_ms or 0)
        for each in ordered[:DROPPED_NAMES_LISTED]
    ]
    present = {each.name for each in listed}
    gone = sorted(((at, name) for name, at in known.items() if name not in present), reverse=True)
    earlier = {name: at for at, name in gone[:DROPPED_NAMES_LISTED]}
    return write_json(
        {
            "names": [_entry(each, number) for number, each in enumerate(listed)],
            "more": len(ordered) - len(listed),
            "earlier": earlier,
        }
    )


def _entry(dropped: DroppedName, number: int) -> dict[str, object]:
    fields: dict[str, object] = asdict(dropped)
    if dropped.like and number < _LIKE_LISTED:
        return fields
    return {name: each for name, each in fields.items() if not name.startswith("like")}


def first_times(value: bytes) -> dict[str, int]:
    """Return for each table in the document, or in earlier ones, when it was first listed (Unix
    milliseconds).
    """
    fields = JsonObject.read(value)
    listed = {
        each.text("name"): first
        for each in fields.objects("names")
        if (first := each.whole("first_ms")) > 0
    }
    return {**fields.wholes("earlier"), **listed}


def read_dropped(value: bytes) -> tuple[DroppedName, ...]:
    """Return the tables in a document of `write_dropped`. Entries that cannot be read
    are left out.
    """
    entries = JsonObject.read(value).objects("names")
    return tuple(
        DroppedName(
            each.text("name"),
            each.text("reason"),
            each.whole("rows"),
            each.whole("first_ms"),
            each.text("like"),
            each.whole("like_common"),
            each.whole("like_all"),
        )
        for each in entries
        if "name" in each
    )


def write_tables(names: Iterable[str]) -> bytes:
    """Return the document of the real tables that an instance has read, as sorted `database.table`.

    Tables beyond KNOWN_TABLES_LISTED are only counted.
    """
    ordered = sorted(set(names))
    return write_json(
        {
            "tables": ordered[:KNOWN_TABLES_LISTED],
            "more": max(0, len(ordered) - KNOWN_TABLES_LISTED),
        }
    )


def read_tables(value: bytes) -> tuple[str, ...]:
    """Return the tables in a document of `write_tables`. Entries that are no texts are left out."""
    return JsonObject.read(value).texts("tables")
