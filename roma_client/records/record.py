"""A Kafka record as plain values, the relay's headers, and values that are stored outside Kafka."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

from roma_client.errors import ClaimGone, ClaimUnreadable
from roma_client.records.change import Place
from roma_client.records.order_guard import Partition

ORDER: Final = "order"
ORDERS: Final = "orders"
TAG: Final = "tag"
INSTANCE: Final = "instance"
REAL: Final = "real"
SOURCE: Final = "source"
CLAIM: Final = "claim"
UNKNOWN: Final = "unknown"
HISTORY: Final = "history"
SNAPSHOT: Final = "snapshot"
TRANSACTION: Final = "transaction"
MOVED: Final = "moved"
"""Header of the marker that ends a table in its topic."""
STATEMENT_SUFFIX: Final = ".ddl"
"""The name of a topic for DDL is the name of the topic of rows with this suffix."""

UNREADABLE: Final = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(ArithmeticError, RecursionError),
)
"""The errors that values of another form cause while a record is parsed, for example a time beyond
year 9999, or lists in a thousand levels.
"""

ClaimReader: TypeAlias = Callable[[str], bytes]
"""Returns the bytes at the URL of a claim."""


class Record(NamedTuple):
    """One record of a topic. `value` is None for a tombstone.

    `timestamp` is Kafka's, in Unix seconds; 0 if it is unknown.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    timestamp: float = 0.0

    @property
    def place(self) -> Place:
        """Return the topic, the partition and the offset of the record."""
        return Place(self.topic, self.partition, self.offset)

    @property
    def source_partition(self) -> Partition:
        """Return the topic and the partition of the record."""
        return self[:2]

    def header(self, name: str) -> bytes | None:
        """Return the value of a header, or of the last one if there are several; None if there is
        none.
        """
        return dict(self.headers).get(name)

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the tags in the order of the headers."""
        found = [
            value.decode("utf-8", "replace")
            for name, value in self.headers
            if name == TAG and value is not None
        ]
        return tuple(found)

    @property
    def deleted_table(self) -> str | None:
        """Return `database.table` in the key of a tombstone; None for every other record.

        The key of a row is a JSON array, which begins with the logical table.
        """
        if self.value is not None or self.key is None or self.header(MOVED) is not None:
            return None
        try:
            key = json.loads(self.key)
        except (ValueError, RecursionError):
            return None
        is_row = isinstance(key, list) and len(key) > 1 and isinstance(key[0], str)
        return key[0] if is_row and "." in key[0] else None


def claimed_value(record: Record, reader: ClaimReader | None) -> bytes:
    """Return the value that a record's claim refers to. Raises ClaimUnreadable, ClaimGone.

    `reader` returns the bytes at a URL; None: the client has no reader, and ClaimUnreadable is
    raised.
    """
    claim = json.loads(record.header(CLAIM) or b"")
    where = f"of record {record.offset} of {record.topic}, partition {record.partition}"
    url, size, digest = claim["url"], claim["size"], claim["sha256"]
    if reader is None:
        raise ClaimUnreadable(f"The value {where} is stored at {url}, outside Kafka.")
    try:
        value = reader(url)
    except (FileNotFoundError, LookupError) as exc:
        raise ClaimGone(
            f"{url}, the value {where}, does not exist any more: {type(exc).__name__}: {exc}."
        ) from exc
    except Exception as exc:
        raise ClaimUnreadable(
            f"`claim_reader` failed for {url}, the value {where}: {type(exc).__name__}: {exc}."
        ) from exc
    if not isinstance(value, bytes):
        raise ClaimUnreadable(
            f"`claim_reader` returned {type(value).__name__} instead of bytes for {url}, the value "
            f"{where}."
        )
    if len(value) != size or sha256(value).hexdigest() != digest:
        raise ClaimGone(f"{url} is not the value {where}: its size or SHA-256 differs.")
    return value
