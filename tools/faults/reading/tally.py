"""Compares messages with the source by counts that are updated for each message, so that a run can
be long.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Counts:
    """Messages, and changes that were lost, repeated, or received after a newer one of the same key
    or partition.
    """

    seen: int
    lost: int
    repeated: int
    out_of_order: int

    @property
    def clean(self) -> bool:
        """Return True if no change was lost, repeated or out of order."""
        return not (self.lost or self.repeated or self.out_of_order)


@dataclass(slots=True)
class _Key:
    first: int
    newest: int
    missing: set[int] = field(default_factory=set)


class Tally:
    """Counts the messages of a consumer, and finds lost, repeated and reordered changes.

    The column `n` of a row numbers its changes from 0. The numbers distinguish these faults.

    If the topic was deleted and created again, `before` is the number of changes that only the
    former topic had. Each key may then begin with any number; only the sum over all keys is
    compared with `before`.

    With `drops_repeats`, a repeated change with the same `order` is dropped and counted in
    `dropped`, as a consumer of `delivery = "at_least_once"` does. A repeat under another `order` is
    a fault.
    """

    def __init__(self, before: int | None = None, *, drops_repeats: bool = False) -> None:
        self.seen = self.dropped = self._repeated = self._out_of_order = 0
        self._before = before
        self._order_of: dict[tuple[int, int], str] | None = {} if drops_repeats else None
        self._keys: dict[int, _Key] = {}
        self._orders: dict[int, str] = {}

    def see(self, key: int, n: int, partition: int, order: str) -> None:
        """Count a message that was read."""
        if (
            self._order_of is not None
            and self._order_of.setdefault((key, n), order) == order
            and self._knows(key, n)
        ):
            self.dropped += 1
            return
        self.seen += 1
        if order <= self._orders.get(partition, ""):
            self._out_of_order += 1
        self._orders[partition] = order
        first = 0 if self._before is None else n
        row = self._keys.setdefault(key, _Key(first, first - 1))
        if n > row.newest:
            row.missing.update(range(row.newest + 1, n))
            row.newest = n
        elif n in row.missing:
            row.missing.remove(n)
            self._out_of_order += 1
        else:
            self._repeated += 1

    def missing(self, held: dict[int, int]) -> int:
        """Return how many changes of a source with these numbers were not received yet; negative:
        more than the source has.
        """
        behind = sum(
            len(row.missing) + held.get(key, -1) - row.newest
            for key, row in list(self._keys.items())
        )
        return behind + self._not_begun(held)

    def against(self, held: dict[int, int]) -> Counts:
        """Return the counts at the end of the run. Changes that the source does not have count as
        repeated.
        """
        ahead = sum(max(0, row.newest - held.get(key, -1)) for key, row in self._keys.items())
        lost = sum(
            len(row.missing) + max(0, held.get(key, -1) - row.newest)
            for key, row in self._keys.items()
        )
        rest = self._not_begun(held)
        return Counts(
            self.seen,
            lost + max(0, rest),
            self._repeated + ahead + max(0, -rest),
            self._out_of_order,
        )

    def _knows(self, key: int, n: int) -> bool:
        row = self._keys.get(key)
        return row is not None and row.first <= n <= row.newest and n not in row.missing

    def _not_begun(self, held: dict[int, int]) -> int:
        """Return the changes before the first received one of each key, without those of an earlier
        topic.
        """
        first = sum(
            row.first for row in list(self._keys.values())
        )  # a copy: the reader may add keys meanwhile
        unseen = sum(n + 1 for key, n in held.items() if key not in self._keys)
        return first + unseen - (self._before or 0)
