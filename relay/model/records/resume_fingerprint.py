"""The position after the last published transaction, in a form that is valid on every server that
replicates the transaction without GTIDs. No I/O.

Two transactions can be equal in every byte, for example if a row is inserted and deleted
repeatedly. So a transaction alone does not identify a position. A *landmark* is a transaction that
began in a later second than every transaction before it. No earlier transaction equals it, because
its second is part of its digest. From there on, transactions are counted and their digests are
chained. The position is reached after that number of transactions with that chain.

The first transaction that a relay reads is not a landmark: others of the same second may precede it
if the relay's clock is behind.
"""

from dataclasses import dataclass, replace
from enum import Enum
from hashlib import blake2b
from typing import Final

from relay.model.positions.position import SourcePosition
from relay.model.records.transaction_digest import DIGEST_BYTES, Digested

_MOST_AHEAD: Final = 100
"""Largest number of future seconds that are kept one by one."""
_LONG_SECONDS: Final = 60
"""For this many seconds after a found position, the search continues for equal positions: a
transaction that waited for a lock began before its predecessors.
"""


@dataclass(frozen=True, slots=True)
class Landmark:
    """The transaction from which later ones are counted.

    second  Unix second in which it began
    digest  its digest
    before  digest of the transaction before it; "" in records of older releases, which used the
            first transaction that they read as a landmark
    """

    second: int
    digest: str
    before: str


@dataclass(frozen=True, slots=True)
class ResumeFingerprint:
    """The position after one transaction. Digests are in hexadecimal.

    newest_s  the latest second in which a transaction up to here began, without those in `ahead`
    ahead     seconds in the future to which sessions dated transactions
    landmark  the landmark; None until there is one
    count     number of transactions after the landmark
    chain     digest of the landmark's digest and the digests of these transactions
    last      digest of the newest transaction
    """

    newest_s: int
    ahead: tuple[int, ...] = ()
    landmark: Landmark | None = None
    count: int = 0
    chain: str = ""
    last: str = ""

    def behind(self, transaction: Digested, clock_s: float) -> "ResumeFingerprint":
        """Return the fingerprint after the next transaction.

        A transaction that is dated later than `clock_s` (Unix seconds) was dated by its session,
        and is not a landmark.
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
        return ResumeFingerprint(
            second, ahead, Landmark(second, digest, self.last), 0, digest, digest
        )

    def _counted(self, digest: str) -> "ResumeFingerprint":
        if self.landmark is None:
            return replace(self, last=digest)
        return replace(self, count=self.count + 1, chain=chained(self.chain, digest), last=digest)


def chained(chain: str, digest: str) -> str:
    """Return the chain after one more transaction."""
    return blake2b((chain + digest).encode(), digest_size=DIGEST_BYTES).hexdigest()


class Sighting(Enum):
    """The result of a search for a position in a server's binlog.

    MISSING: the landmark is missing, or fewer transactions than `count` follow it. OTHER: `count`
    transactions follow it, with another chain. SEVERAL: more than one position matches. UNPROVEN:
    the found transaction may be the landmark or a later equal one, because the binlog before it is
    purged.
    """

    FOUND = "found"
    MISSING = "missing"
    OTHER = "other"
    SEVERAL = "several"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class Sought:
    """The result of a search, with the position if it was found. `lacking`: if the result is
    MISSING, how many transactions are missing at least.
    """

    sighting: Sighting
    position: SourcePosition | None = None
    lacking: int = 0


class LandmarkSearch:
    """Searches for the position of a fingerprint in the transactions of a server's binlog, which
    are passed in order.

    `needs_before`: the transaction before the landmark must be read too, because nothing else
    proves that the search began before the landmark.
    """

    def __init__(self, fingerprint: ResumeFingerprint, *, needs_before: bool) -> None:
        if fingerprint.landmark is None:
            raise ValueError("there is nothing to look for")
        self._fingerprint = fingerprint
        self._landmark = fingerprint.landmark
        self._needs_before = needs_before
        self._last = ""
        self._open: list[tuple[int, str]] = []
        self._found: list[SourcePosition] = []
        self._reached = -1
        self._others = 0
        self._unproven = False
        self._newest_s = 0

    def take(self, transaction: Digested, end: SourcePosition) -> None:
        """Add the next transaction of the binlog; `end` is the position after it."""
        digest = transaction.digest.hex()
        counted = [(count + 1, chained(chain, digest)) for count, chain in self._open]
        if digest == self._landmark.digest:
            counted += self._counted_from(digest)
        self._last, self._newest_s = digest, max(self._newest_s, transaction.second)
        self._open = []
        for count, chain in counted:
            self._reached = max(self._reached, count)
            if count < self._fingerprint.count:
                self._open.append((count, chain))
            elif chain == self._fingerprint.chain:
                self._found.append(end)
            else:
                self._others += 1

    @property
    def enough(self) -> bool:
        """Whether no later transaction can change the result."""
        return self._unproven or (
            bool(self._found) and self._newest_s > self._landmark.second + _LONG_SECONDS
        )

    @property
    def sought(self) -> Sought:
        """The result of the search for the position in the transactions that were added so far."""
        if self._unproven:
            # No transaction before the landmark equals it. So the positions that were found after
            # an earlier equal transaction were counted from the wrong one.
            return Sought(Sighting.UNPROVEN)
        if len(self._found) > 1:
            return Sought(Sighting.SEVERAL)
        if self._found:
            return Sought(Sighting.FOUND, self._found[0])
        if self._others and not self._open:
            return Sought(Sighting.OTHER)
        return Sought(Sighting.MISSING, lacking=self._fingerprint.count - self._reached)

    def _counted_from(self, digest: str) -> list[tuple[int, str]]:
        """Return the counts that begin at this transaction, if it is the first one that equals the
        landmark.
        """
        before = self._landmark.before
        if self._last and before:
            return [(0, digest)] if self._last == before else []
        self._unproven = self._unproven or self._needs_before
        return [] if self._needs_before else [(0, digest)]


def _remembered(newest_s: int, ahead: tuple[int, ...], second: int) -> tuple[int, tuple[int, ...]]:
    """Return (newest second, future seconds) after one more future second. If there are too many,
    the nearest one becomes the newest second.
    """
    seconds = sorted({*ahead, second})
    if len(seconds) <= _MOST_AHEAD:
        return newest_s, tuple(seconds)
    return seconds[0], tuple(seconds[1:])
