"""What the publish room sends."""

from dataclasses import dataclass
from typing import TypeAlias

Headers: TypeAlias = "tuple[tuple[str, bytes], ...]"


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One Kafka record; `value` None is a tombstone, `key` None means that the row has no key."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers


HeaderList: TypeAlias = "list[tuple[str, str | bytes | None]]"
"""Headers as the Kafka client takes them."""

PrintedMessage: TypeAlias = "tuple[bytes, bytes | None, HeaderList, int]"
"""A message as it is handed over in bulk: value, key, headers, partition."""
