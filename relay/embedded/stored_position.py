"""The position of embedded changes as bytes: a relay's position record, and records beside it."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.records.position_record import PositionRecord

FORMAT: Final = 1
Kept: TypeAlias = Mapping[str, Mapping[bytes, bytes]]
"""Records that are stored together with the position: name of the store → key → value."""
_REMEDY: Final = (
    "Restore the position file from a copy. Or delete it: the program then starts at the "
    "setting `start`, and you must repair the data that it wrote from earlier changes."
)


@dataclass(frozen=True, slots=True)
class StoredPosition:
    """The position up to which the program has processed changes.

    record  the position record before the first unprocessed change
    done    execute position of the last processed change after `record`, in the middle of a batch;
            0 if there is none
    kept    records that are stored together with the position
    """

    record: bytes
    done: int = 0
    kept: Kept = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the position as JSON."""
        kept = {
            store: [[_text(key), _text(value)] for key, value in records.items()]
            for store, records in self.kept.items()
        }
        fields = {"format": FORMAT, "done": self.done, "kept": kept}
        return orjson.dumps({**fields, "record": orjson.Fragment(self.record)})

    @classmethod
    def from_bytes(cls, value: bytes) -> "StoredPosition":
        """Return the position in bytes.

        Raises PositionNewer for a newer format, PositionUnreadable for other bytes.
        """
        try:
            fields: dict[str, Any] = orjson.loads(value)
            if fields["format"] > FORMAT:
                raise PositionNewer(fields["format"], FORMAT)
            record = orjson.dumps(fields["record"])
            kept = {
                store: {b64decode(key): b64decode(value) for key, value in records}
                for store, records in fields["kept"].items()
            }
            PositionRecord.from_bytes(record)
            return cls(record, int(fields["done"]), kept)
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise PositionUnreadable(
                f"The saved position of the embedded changes cannot be read ({exc}).",
                remedy=_REMEDY,
            ) from exc


def _text(value: bytes) -> str:
    return b64encode(value).decode("ascii")
