"""The inbox of a service: a table with the positions of applied changes, in the service's
database.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from roma_client.errors import InboxAhead, UsageError
from roma_client.inbox.dialect import (
    Connection,
    Cursor,
    Dialect,
    commits_by_itself,
    dialect_of,
    executed,
    statements,
)
from roma_client.log import log_event
from roma_client.records.change import NO_ORDER, Change
from roma_client.records.transaction import Transaction, transaction_id

Key: TypeAlias = Literal["partition", "row"]
Item = TypeVar("Item", Change, Transaction)
Result = TypeVar("Result")

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_SUBSCRIPTION_CHARACTERS: Final = 190
_MILLISECONDS: Final = 1000
_DIGEST_DIGITS: Final = 24
"""Of the place of a change without an order key, which begins with its topic and partition."""


class _At(NamedTuple):
    """What is applied: where it belongs, how far it is there, and its time in Unix ms.

    name    the place for people
    former  the place of a former release, whose position counts; None: the same place
    is_row  whether the position is the order key of a row
    """

    place: str
    major: int
    minor: int
    time: int
    name: str
    former: str | None = None
    is_row: bool = False


class Inbox:
    """Applies changes or transactions to a database, each exactly once.

    Make one for each connection, and use it in one thread. The table of an inbox stores up to which
    position changes are applied: for each partition (with `by="row"`, for each row of the source),
    and for the transactions of each instance. If two clients apply the same change at the same
    time, one waits until the other has committed, and then skips the change.
    """

    def __init__(
        self,
        connection: Connection,
        subscription: str,
        *,
        by: Key = "partition",
        table: str = "roma_inbox",
        dialect: Dialect | None = None,
    ) -> None:
        """`subscription` is a name of the service's own, such as its group.

        `by` says what has a position: each partition, or each row of the source, by its order key
        (for workers, and for topics that may be read again from the beginning). `table` is made if
        it is missing. Raises UsageError, also for a connection that commits each statement.
        """
        if not _NAME.fullmatch(table):
            raise UsageError(
                f"The argument `table` of the inbox, {table!r}, is not a table name.",
                "Use ASCII letters, digits, underscores and dots.",
            )
        if not 0 < len(subscription) <= _SUBSCRIPTION_CHARACTERS:
            raise UsageError(
                f"The argument `subscription` of the inbox has {len(subscription)} characters.",
                f"Give a name of 1 to {_SUBSCRIPTION_CHARACTERS} characters.",
            )
        if commits_by_itself(connection):
            raise UsageError(
                "The connection of the inbox is in autocommit mode.",
                "Switch autocommit off, because the effect of a change and its position must "
                "be in one transaction.",
            )
        self._connection = connection
        self._subscription = subscription
        self._by = by
        self._sql = statements(connection, dialect or dialect_of(connection), table)
        self._run(lambda cursor: cursor.execute(self._sql.create))

    def apply(self, item: Item, effect: Callable[[Any, Item], object]) -> bool:
        """Call `effect(cursor, item)` and commit, unless the item was applied before.

        Returns whether the item was applied by this call. If `effect` raises an error, everything
        is rolled back, and the error is raised here. `effect` must neither commit nor roll back.
        With `by="row"`, if `item` is a transaction without an id, `effect` gets only those of its
        rows that were not applied before. Raises InboxAhead for an item that was not applied
        although the stored position is after it.
        """
        return self._run(lambda cursor: self._applied(cursor, item, effect))

    def _applied(
        self, cursor: Any, item: Change | Transaction, effect: Callable[[Any, Any], object]
    ) -> bool:
        if self._by == "row" and isinstance(item, Transaction) and item.id is None:
            new = tuple(each for each in item.changes if self._is_new(cursor, self._at(each)))
            if not new:
                return False
            counts = Counter(f"{each.database}.{each.table}" for each in new)
            item = replace(item, changes=new, counts=dict(counts))
        elif not self._is_new(cursor, self._at(item)):
            return False
        effect(cursor, item)
        return True

    def _is_new(self, cursor: Cursor, at: _At) -> bool:
        """Move the position to an item; False if it is there already. Raises InboxAhead."""
        if self._moved(cursor, at):
            return True
        self._check_old(cursor, at)
        return False

    def _moved(self, cursor: Cursor, at: _At) -> bool:
        """Move the position to an item; False if it is there already. Locks the row."""
        where = (self._subscription, at.place)
        position = (at.major, at.minor)
        values = (*position, at.time, at.time, *where, at.major, *position)
        if executed(cursor, self._sql.move, values):
            return True
        if at.former is not None:
            executed(cursor, self._sql.seed, (*where, self._subscription, at.former))
        executed(cursor, self._sql.add, where)  # changes nothing if another client has added it
        return executed(cursor, self._sql.move, values) > 0

    def _check_old(self, cursor: Cursor, at: _At) -> None:
        """Return for an item that was applied. Raises InboxAhead for one that cannot have been."""
        cursor.execute(self._sql.newest, (self._subscription, at.place))
        (newest,) = cursor.fetchone()
        if not at.is_row and at.time > newest:
            raise InboxAhead(
                f"The inbox of {self._subscription} has already applied {at.name} beyond "
                f"{at.major}, but the change at {at.major} is newer than every applied one."
            )

    def _at(self, item: Change | Transaction) -> _At:
        if isinstance(item, Transaction):
            if item.id is not None:
                id_ = transaction_id(item.id)
                time = round(item.execute_time.timestamp() * _MILLISECONDS)
                place = f"transactions of {id_.instance}"
                return _At(place, id_.before, 0, time, place)
            item = item.changes[-1]
        if self._by == "partition":
            return _at_partition(item)
        if item.key is not None and item.order != NO_ORDER:
            return _at_row(item, item.key)
        return _at_loose(item)

    def _run(self, work: Callable[[Any], Result]) -> Result:
        """Return what `work` returns, after the commit; roll back if it raises."""
        cursor = self._connection.cursor()
        try:
            result = work(cursor)
            self._connection.commit()
        except BaseException:
            self._roll_back()
            raise
        finally:
            cursor.close()
        return result

    def _roll_back(self) -> None:
        """Roll back; a lost connection is rolled back by its server."""
        try:
            self._connection.rollback()
        except Exception as exc:  # noqa: BLE001  # the error that led here is raised
            log_event(logging.WARNING, "rollback_failed", reason=f"{type(exc).__name__}: {exc}")


def _at_partition(change: Change) -> _At:
    """Return the position of a change in its partition."""
    order = change.order
    place = f"{change.place.topic}/{change.place.partition}"
    return _At(place, change.place.offset, order.execute_position, order.execute_time, place)


def _at_row(change: Change, key: str) -> _At:
    """Return the position of a change of a row: its order key."""
    place, order = f"row {_digest(key)}", change.order
    return _At(place, *order, order.execute_time, place, is_row=True)


def _at_loose(change: Change) -> _At:
    """Return the position of a change that no order key places, among the rows of an inbox.

    Workers apply changes of several keys and tables in any turn: each table has its own position in
    a partition, and so has each key whose tombstone has no order.
    """
    at, table = _at_partition(change), f"{change.database}.{change.table}"
    own = _digest(f"{table} {change.key or ''}")[:_DIGEST_DIGITS]
    return at._replace(place=f"{at.place} {own}", name=f"{table} in {at.place}", former=at.place)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
