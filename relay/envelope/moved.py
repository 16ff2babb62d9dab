"""The marker in a topic that tables of a logical database leave (ADR 78) or come back to (81)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MOVED_VERSION: Final = 1
"""Rises when a reader of the older form would read the newer one wrongly."""


@dataclass(frozen=True, slots=True)
class MovedMarker:
    """Rows of a logical database that an instance publishes come after this in other topics, or
    in this one again.

    database  the logical database; all of its tables that the topic has are meant
    topic     the topic that they leave, or come back to if `to` names it
    to        topics and templates (`{db}`, `{table}`) of the database from now on; empty if the
              database is mapped no more
    set       number of the first mapping set without the topic, or with it again
    instance  the instance that publishes no such row to `topic` any more, or again
    feeders   all instances that publish to `topic`: each of them writes a marker
    """

    database: str
    topic: str
    to: tuple[str, ...]
    set: int
    instance: str
    feeders: tuple[str, ...]

    def key(self) -> bytes:
        """Return the key of the marker's record: a JSON object, which no key of a row is."""
        return _json(
            {
                "moved": self.database,
                "topic": self.topic,
                "set": self.set,
                "instance": self.instance,
            }
        )

    def header(self) -> bytes:
        """Return the value of the header `moved`."""
        return _json(
            {
                "version": MOVED_VERSION,
                "database": self.database,
                "topic": self.topic,
                "to": self.to,
                "set": self.set,
                "instance": self.instance,
                "feeders": self.feeders,
            }
        )


def _json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
