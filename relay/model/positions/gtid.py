"""Sets of global transaction ids, of both families, as immutable values.

Source of the rules: MySQL manual, "GTID Sets" (with tags since 8.3), and MariaDB's "Global
Transaction ID".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

Interval: TypeAlias = tuple[int, int]
"""First and last transaction number, both included."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TAG: Final = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_INTERVAL: Final = re.compile(r"([0-9]{1,19})(?:-([0-9]{1,19}))?")
_DOMAIN: Final = re.compile(r"([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})")
_LAST_NUMBER: Final = 2**63 - 2  # MySQL's GNO_END - 1


@dataclass(frozen=True, slots=True, order=True)
class TransactionSource:
    """The numbering source of MySQL transactions: a server's uuid, and the tag ("" without)."""

    uuid: str
    tag: str = ""


@dataclass(frozen=True, slots=True)
class GtidSet:
    """A set of transactions: MySQL's intervals of each source, or MariaDB's newest id of each
    domain.

    intervals  MySQL: sorted, disjoint and never adjacent; empty for MariaDB
    domains    MariaDB: (server id, sequence number) of the last transaction in each domain, which
               includes all earlier ones; empty for MySQL
    """

    intervals: Mapping[TransactionSource, tuple[Interval, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    domains: Mapping[int, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, text: str) -> "GtidSet":
        """Read the text of a set or of a single id; "" is the empty set.

        Raises ValueError, which names the invalid part.
        """
        intervals: dict[TransactionSource, tuple[Interval, ...]] = {}
        domains: dict[int, tuple[int, int]] = {}
        for part in (part.strip() for part in text.lower().split(",")):
            if not part:
                continue
            if domain := _DOMAIN.fullmatch(part):
                domains[int(domain[1])] = (int(domain[2]), int(domain[3]))
                continue
            for source, interval in _numbered(part):
                intervals[source] = _joined(intervals.get(source, ()), interval)
        return cls(MappingProxyType(intervals), MappingProxyType(domains))

    def __str__(self) -> str:
        """The text as the servers print it: sources and domains in order, tags after their uuid."""
        return ",".join([*_source_texts(self.intervals), *_domain_texts(self.domains)])

    @property
    def empty(self) -> bool:
        """Return True if the set holds no transaction of either family."""
        return not self.intervals and not self.domains

    def with_gtid(self, text: str) -> "GtidSet":
        """Return the set with the transactions of `text` added.

        In a MariaDB domain the added id replaces the former one, even if its number is smaller.
        """
        return self.with_all(GtidSet.parse(text))

    def with_each(self, ids: Iterable[str]) -> "GtidSet":
        """Return the set with these transactions added, as if `with_gtid` were called for each in
        order. Consecutive MySQL numbers are added at once.
        """
        result = self
        for text in _runs(ids):
            result = result.with_gtid(text)
        return result

    def with_all(self, other: "GtidSet") -> "GtidSet":
        """Return the union. For a MariaDB domain in both sets, the other set's id is used."""
        intervals = dict(self.intervals)
        for source, added in other.intervals.items():
            held = intervals.get(source, ())
            for interval in added:
                held = _joined(held, interval)
            intervals[source] = held
        return GtidSet(
            MappingProxyType(intervals), MappingProxyType({**self.domains, **other.domains})
        )

    def contains(self, text: str) -> bool:
        """Return whether every transaction of the text is in the set."""
        return self.covers(GtidSet.parse(text))

    def covers(self, other: "GtidSet") -> bool:
        """Return whether this set contains all transactions of the other set.

        For MariaDB domains, sequence numbers are compared.
        """
        return all(
            _within(self.intervals.get(source, ()), wanted)
            for source, wanted in other.intervals.items()
        ) and all(
            domain in self.domains and self.domains[domain][1] >= sequence
            for domain, (_, sequence) in other.domains.items()
        )

    def without(self, other: "GtidSet") -> "GtidSet":
        """Return the transactions of this set that the other set lacks.

        MySQL: as GTID_SUBTRACT. MariaDB: the domains whose number is greater here.
        """
        intervals: dict[TransactionSource, tuple[Interval, ...]] = {}
        for source, held in self.intervals.items():
            if rest := tuple(_remaining(held, other.intervals.get(source, ()))):
                intervals[source] = rest
        ahead = {
            d: last
            for d, last in self.domains.items()
            if d not in other.domains or other.domains[d][1] < last[1]
        }
        return GtidSet(MappingProxyType(intervals), MappingProxyType(ahead))


def _numbered(part: str) -> Iterator[tuple[TransactionSource, Interval]]:
    """Cut `uuid:1-3:5:tag:7` into sources and intervals."""
    uuid, *rest = (piece.strip() for piece in part.split(":"))
    if not _UUID.fullmatch(uuid) or not rest:
        raise ValueError(f"{part!r} is not a GTID")
    source = TransactionSource(uuid)
    numbered = False
    for piece in rest:
        if number := _INTERVAL.fullmatch(piece):
            yield source, _interval(int(number[1]), int(number[2] or number[1]), part)
            numbered = True
        elif _TAG.fullmatch(piece):
            source = TransactionSource(uuid, piece)
            numbered = False
        else:
            raise ValueError(f"{part!r} is not a GTID")
    if not numbered:
        raise ValueError(f"{part!r} names no transaction")


def _runs(ids: Iterable[str]) -> Iterator[str]:
    """Yield consecutive MySQL ids as one interval, and of each MariaDB domain only the last id."""
    domains: dict[str, str] = {}
    source, first, last = "", 0, 0
    for text in ids:
        head, _, number = text.rpartition(":")
        if not head:
            domains[text.partition("-")[0]] = text
        elif head == source and int(number) == last + 1:
            last += 1
        else:
            if source:
                yield f"{source}:{first}-{last}"
            source, first, last = head, int(number), int(number)
    if source:
        yield f"{source}:{first}-{last}"
    yield from domains.values()


def _interval(first: int, last: int, part: str) -> Interval:
    if not 1 <= first <= last <= _LAST_NUMBER:
        raise ValueError(f"{part!r} holds an interval that is empty or out of range")
    return first, last


def _joined(held: tuple[Interval, ...], added: Interval) -> tuple[Interval, ...]:
    """Add one interval to a sorted list of intervals.

    The common case, the next number at the end, is one step.
    """
    first, last = added
    if held and held[-1][1] + 1 == first:
        return (*held[:-1], (held[-1][0], last))
    before = tuple(interval for interval in held if interval[1] + 1 < first)
    after = tuple(interval for interval in held if interval[0] > last + 1)
    touched = held[len(before) : len(held) - len(after)]
    if touched:
        first, last = min(first, touched[0][0]), max(last, touched[-1][1])
    return (*before, (first, last), *after)


def _within(held: tuple[Interval, ...], wanted: tuple[Interval, ...]) -> bool:
    return not any(_remaining(wanted, held))


def _remaining(held: tuple[Interval, ...], taken: tuple[Interval, ...]) -> Iterator[Interval]:
    for start, last in held:
        first = start
        for low, high in taken:
            if high < first or low > last:
                continue
            if low > first:
                yield first, low - 1
            first = high + 1
        if first <= last:
            yield first, last


def _source_texts(intervals: Mapping[TransactionSource, tuple[Interval, ...]]) -> Iterator[str]:
    texts: dict[str, str] = {}
    for source in sorted(intervals):
        numbers = ":".join(
            f"{low}" if low == high else f"{low}-{high}" for low, high in intervals[source]
        )
        text = texts.get(source.uuid, source.uuid)
        texts[source.uuid] = f"{text}:{source.tag}:{numbers}" if source.tag else f"{text}:{numbers}"
    yield from texts.values()


def _domain_texts(domains: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    for domain in sorted(domains):
        server, sequence = domains[domain]
        yield f"{domain}-{server}-{sequence}"
