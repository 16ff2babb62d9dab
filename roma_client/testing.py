"""Makes changes for unit tests of services that use this client."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from roma_client.records.change import Change, Values
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.order_guard import OrderGuard
from roma_client.records.record import Record
from roma_client.records.selection import Selection


class MessageLike(Protocol):
    """The attributes of a message, as `relay.testing.MadeMessage` has them."""

    @property
    def topic(self) -> str:
        """Return the topic."""

    @property
    def key(self) -> bytes | None:
        """Return the key."""

    @property
    def value(self) -> bytes | None:
        """Return the value; None for a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """Return the headers."""


class Subscribed(NamedTuple):
    """The arguments of a subscription that decide which changes it delivers."""

    database: str
    table: str
    tags: frozenset[str] = frozenset()
    ddl: bool = False
    values: Values = "python"


def changes_from(messages: Iterable[MessageLike], subscribed: Subscribed) -> list[Change]:
    """Return the changes that a subscription would deliver for these messages of one partition.

    The changes of a repeated message are returned again. A tombstone is returned as a change if the
    message of its delete is missing. Raises CorruptMessage, ClaimUnreadable.
    """
    selection = Selection(
        f"{subscribed.database}.{subscribed.table}".__eq__,
        tags=subscribed.tags,
        statements=subscribed.ddl,
    )
    reading, guard = Reading(subscribed.values), OrderGuard()
    return [
        change
        for offset, each in enumerate(messages)
        for change in changes_of(
            Record(each.topic, 0, offset, each.key, each.value, each.headers), selection, reading
        )
        if guard.is_new((each.topic, 0), change.key or "", change.order, offset)
        or not change.is_key_only
    ]
