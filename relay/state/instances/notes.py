"""Notes about an instance: its first start, the tables that it has read, and the tables that its
mapping excludes.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

from relay.state.json_object import JsonObject, write_json

# One name with its reason takes about 150 bytes; the node stays far below ZooKeeper's limit of 1
# MiB.
DROPPED_NAMES_LISTED: Final = 2000
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
    """A real name that is filtered, the reason, and the number of its rows since the relay's
    start.
    """

    name: str
    reason: str
    rows: int = 0


def write_dropped(names: Iterable[DroppedName]) -> bytes:
    """Return the document of dropped names, the ones with the most rows first. Names beyond
    DROPPED_NAMES_LISTED are only counted.
    """
    ordered = sorted(names, key=lambda dropped: (-dropped.rows, dropped.name))
    listed = [asdict(dropped) for dropped in ordered[:DROPPED_NAMES_LISTED]]
    return write_json({"names": listed, "more": len(ordered) - len(listed)})


def read_dropped(value: bytes) -> tuple[DroppedName, ...]:
    """Read the list; entries that cannot be read are left out."""
    entries = JsonObject.read(value).objects("names")
    return tuple(
        DroppedName(each.text("name"), each.text("reason"), each.whole("rows"))
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
