"""The marker in a topic that tables of a logical database leave (ADR 78) or return to (ADR 81)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MOVED_VERSION: Final = 1
"""Version of the marker's form. It rises if a reader of the older form would misread the newer
one.
"""


@dataclass(frozen=True, slots=True)
class MovedMarker:
    """A message from one instance: from now on, its rows of a logical database are in other topics,
    or in this topic again.

    database  the logical database; the marker is about all of its tables in the topic
    topic     the topic that they leave, or to which they return if `to` contains it
    to        topics and templates (`{db}`, `{table}`) of the database from now on; empty if the
              database is no longer mapped
    set       number of the first mapping set without the topic, or with it again
    instance  the instance that wrote the marker, which is about the rows of this instance only
    feeders   all instances that publish to `topic`: each of them writes a marker
    """

    database: str
    topic: str
    to: tuple[str, ...]
    set: int
    instance: str
    feeders: tuple[str, ...]

    def key(self) -> bytes:
        """Return the key of the marker's record: a JSON object, so that it differs from keys of
        rows, which are JSON arrays.
        """
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
