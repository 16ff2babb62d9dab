"""Where the last published transaction stands, told in a way that holds for every server that
replicates it without GTIDs.

No I/O.

Transactions may be alike to the last byte: a row that is inserted and deleted again and again. So
none is recognized by itself. A
*landmark* is a transaction that began in a later second than every one before it: nothing before it
is like it, because its second is a
part of what it is. From there transactions are counted, and their digests chained: the place is
where that many have come with that chain.
The first transaction that a relay reads is none: others of its second may stand before it, where
the relay's clock is behind.
"""

from dataclasses import dataclass, replace
from enum import Enum
from hashlib import blake2b
from typing import Final

from relay.model.positions.position import SourcePosition
from relay.model.records.transaction_digest import DIGEST_BYTES, Digested

_MOST_AHEAD: Final = 100
"""So many seconds of the future are remembered one by one."""
_LONG_SECONDS: Final = 60
"""So long after a place is found, another one like it is looked for: what waited for a lock was
begun before what stands in front of it.
"""


@dataclass(frozen=True, slots=True)
class Landmark:
    """The transaction from which others are counted: its second, its digest, and that of the one
    before it.

    The last is "" in records of releases that took the first transaction that they read for a
    landmark.
    """

    second: int
    digest: str
    before: str


@dataclass(frozen=True, slots=True)
class PublishedPlace:
    """The place behind one transaction. Digests are in hexadecimal.

    No transaction up to here began after `newest_s`, but for those that sessions dated to the
    seconds in `ahead`. Behind the landmark (None until there is one) `count` more transactions
    stand; `chain` is made of its digest and theirs. `last` is the newest one's own.
    """

    newest_s: int
    ahead: tuple[int, ...] = ()
    landmark: Landmark | None = None
    count: int = 0
    chain: str = ""
    last: str = ""

    def behind(self, transaction: Digested, clock_s: float) -> "PublishedPlace":
        """The place behind the next transaction.

        What is dated later than `clock_s` is dated by its session, and no landmark.
        """
        digest, second = transaction.digest.hex(), transaction.second
        if second <= self.newest_s:
            return self._counted(digest)
        if second > clock_s:
            newest_s, ahead = _remembered(self.newest_s, self.ahead, second)
            return replace(self._counted(digest), newest_s=newest_s, ahead=ahead)
        ahead = tuple(each for each in self.ahead if each > second) if self.ahead else ()
        if second in self.ahead or not self.last:
            return replace(self._counted(digest), newest_s=second, ahead=ahead)
        return PublishedPlace(second, ahead, Landmark(second, digest, self.last), 0, digest, digest)

    def _counted(self, digest: str) -> "PublishedPlace":
        if self.landmark is None:
            return replace(self, last=digest)
        return replace(self, count=self.count + 1, chain=chained(self.chain, digest), last=digest)


def chained(chain: str, digest: str) -> str:
    """The chain with one more transaction."""
    return blake2b((chain + digest).encode(), digest_size=DIGEST_BYTES).hexdigest()


class Sighting(Enum):
    """What a server's binlog says of a place.

    MISSING: fewer transactions stand behind the landmark, or it is not there itself.

    UNPROVEN: what is there may be the landmark, or another one like it that came later, with the
    landmark in what the binlog has no more.
    """

    FOUND = "found"
    MISSING = "missing"
    OTHER = "other"
    SEVERAL = "several"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class Sought:
    """The end of a search: where reading goes on when it was found, and how many transactions lack
    at least where some do.
    """

    sighting: Sighting
    position: SourcePosition | None = None
    lacking: int = 0


class PlaceSearch:
    """Takes the transactions of a server's binlog in their order, from before the landmark on.

    `needs_before`: nothing else proves that the search began before the landmark, so the one before
    it must be seen, too.
    """

    def __init__(self, place: PublishedPlace, *, needs_before: bool) -> None:
        if place.landmark is None:
            raise ValueError("there is nothing to look for")
        self._place = place
        self._landmark = place.landmark
        self._needs_before = needs_before
        self._last = ""
        self._open: list[tuple[int, str]] = []
        self._found: list[SourcePosition] = []
        self._reached = -1
        self._others = 0
        self._unproven = False
        self._newest_s = 0

    def take(self, transaction: Digested, end: SourcePosition) -> None:
        """The next transaction of the binlog, and where it ends."""
        digest = transaction.digest.hex()
        counted = [(count + 1, chained(chain, digest)) for count, chain in self._open]
        if digest == self._landmark.digest:
            counted += self._counted_from(digest)
        self._last, self._newest_s = digest, max(self._newest_s, transaction.second)
        self._open = []
        for count, chain in counted:
            self._reached = max(self._reached, count)
            if count < self._place.count:
                self._open.append((count, chain))
            elif chain == self._place.chain:
                self._found.append(end)
            else:
                self._others += 1

    @property
    def enough(self) -> bool:
        """Whether nothing that may still come changes the answer."""
        return self._unproven or (
            bool(self._found) and self._newest_s > self._landmark.second + _LONG_SECONDS
        )

    @property
    def sought(self) -> Sought:
        """What the transactions so far say."""
        if self._unproven:
            # Nothing before the landmark is like it, so what was found behind this one would be
            # counted from a later one.
            return Sought(Sighting.UNPROVEN)
        if len(self._found) > 1:
            return Sought(Sighting.SEVERAL)
        if self._found:
            return Sought(Sighting.FOUND, self._found[0])
        if self._others and not self._open:
            return Sought(Sighting.OTHER)
        return Sought(Sighting.MISSING, lacking=self._place.count - self._reached)

    def _counted_from(self, digest: str) -> list[tuple[int, str]]:
        """The count that begins here, if this is the landmark and none like it."""
        before = self._landmark.before
        if self._last and before:
            return [(0, digest)] if self._last == before else []
        self._unproven = self._unproven or self._needs_before
        return [] if self._needs_before else [(0, digest)]


def _remembered(newest_s: int, ahead: tuple[int, ...], second: int) -> tuple[int, tuple[int, ...]]:
    """With one second of the future more; when there are too many, the nearest counts as
    reached.
    """
    seconds = sorted({*ahead, second})
    if len(seconds) <= _MOST_AHEAD:
        return newest_s, tuple(seconds)
    return seconds[0], tuple(seconds[1:])
