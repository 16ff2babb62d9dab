"""Notes about an instance: its first start, the tables that it has read, and the tables that its
mapping excludes.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

from relay.state.json_object import JsonObject, write_json

# One name with its reason takes about 150 bytes; the node stays far below ZooKeeper's limit of 1
# MiB.
DROPPED_NAMES_LISTED: Final = 2000
_LIKE_LISTED: Final = 1000
"""Of so many names the similar table is listed, which takes up to 200 bytes."""
# A database and a table take at most 2 x 64 characters.
KNOWN_TABLES_LISTED: Final = 5000


@dataclass(frozen=True, slots=True)
class StartNote:
    """The place where an instance started for the first time, as resolved from its settings.

    `noted_ms` is Unix milliseconds.

    It proves that the instance has run before: without a position record it must not start again.
    """

    file: str
    offset: int
    gtid_set: str = ""
    relay: str = ""
    noted_ms: int = 0

    def to_document(self) -> bytes:
        """Return the JSON document, which is written once: at the first start."""
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, value: bytes) -> "StartNote":
        """Read it; an unreadable note is still a note."""
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
    """A real name that is filtered, the reason, the number of its rows since the relay's start,
    and when any relay listed it first (Unix milliseconds, 0: unknown).

    `like` is a published table with the same or nearly the same columns, as its messages name it
    ("": none is known), `like_common` the number of columns that both have, and `like_all` that of
    the columns that at least one of them has.
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
    """Return the document of dropped names, the ones with the most rows first. Names beyond
    DROPPED_NAMES_LISTED are only counted.

    The times of the document `before` stay, also those of names that are not listed now: a relay
    begins with an empty list. Of these the newest are kept. Other names get the time `now_ms`.
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
    """Return when each name of a list of dropped names, and of earlier lists, was listed first."""
    fields = JsonObject.read(value)
    listed = {
        each.text("name"): first
        for each in fields.objects("names")
        if (first := each.whole("first_ms")) > 0
    }
    return {**fields.wholes("earlier"), **listed}


def read_dropped(value: bytes) -> tuple[DroppedName, ...]:
    """Read the list; entries that cannot be read are left out."""
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
    """Write the real tables that an instance has read, as `database.table`, sorted.

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
    """Read the list; entries that are not texts are ignored."""
    return JsonObject.read(value).texts("tables")
