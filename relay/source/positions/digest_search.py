"""Searches another server's binlog for the last published transaction, by digests of the
transactions before it.

The search begins with a landmark, a transaction whose digest equals that of no earlier transaction
(`relay.model.records.resume_fingerprint`).
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from relay.errors import BinlogPurged, RolledBackRows, StandbyPurged
from relay.model.change import TransactionEnd
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.records.resume_fingerprint import LandmarkSearch, ResumeFingerprint, Sought
from relay.model.records.transaction_digest import Digested, TransactionDigest
from relay.model.replication import Replication
from relay.settings import SourceSettings
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.positions.binlog_probe import FIRST_OFFSET, file_created_s
from relay.source.positions.binlog_range import items_between
from relay.source.positions.resume import binlog_files
from relay.source.positions.time_search import boundary_at_time
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.replication_state import ask_replication
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class SearchStart:
    """The transaction boundary at which a search for a landmark begins. `surely_before`: the
    landmark is certainly after this boundary.
    """

    at: BinlogPosition
    surely_before: bool


@dataclass(frozen=True, slots=True)
class LandmarkReport:
    """The result of a search for a landmark (`sought`), where the search began (`start`), and the
    server's replication state before the search.
    """

    sought: Sought
    replication: Replication
    start: SearchStart


def find_landmark(
    settings: SourceSettings,
    fingerprint: ResumeFingerprint,
    margin_seconds: float,
    known: SearchStart | None = None,
) -> LandmarkReport:
    """Search a server's binlog for the landmark of `fingerprint` (the transaction that its digest
    identifies), and return the result.

    The search begins `margin_seconds` before the landmark's time, because the servers' clocks may
    differ by that much. `known` is where an earlier search on this server began, which saves
    reading a file; None: not known. Raises StandbyPurged if the binlog begins after the landmark.
    """
    if fingerprint.landmark is None:
        raise ValueError("a position without a landmark cannot be searched for")
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        # First the replication, then the binlog: what is said to be applied is then in what is
        # read.
        replication = ask_replication(connection, server)
        files = binlog_files(connection)
    if known is None or known.at.file not in files:
        known = _start(settings, server, files, fingerprint.landmark.second, margin_seconds)
    excluded: list[ExcludedRange] = []
    while True:
        search = LandmarkSearch(fingerprint, needs_before=not known.surely_before)
        try:
            for transaction, end in _transactions(settings, server, files, known.at, excluded):
                search.take(transaction, end)
                if search.enough:
                    break
        except RolledBackRows as exc:
            excluded.extend(exc.ranges)
        else:
            return LandmarkReport(search.sought, replication, known)


def _start(
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    landmark_s: int,
    margin_seconds: float,
) -> SearchStart:
    try:
        time_ms = int((landmark_s - margin_seconds) * _MILLISECONDS)
        return SearchStart(
            boundary_at_time(settings, server, files, time_ms).binlog, surely_before=True
        )
    except BinlogPurged as exc:
        oldest = next(iter(files))
        if (created_s := file_created_s(settings, server, oldest)) >= landmark_s:
            raise StandbyPurged(
                f"The binlog of the server at {settings.host}:{settings.port} begins at "
                f"{created_s} (Unix seconds) with {oldest}. To prove that the server has the "
                f"published transactions, its binlog must begin at {landmark_s} or earlier."
            ) from exc
        return SearchStart(BinlogPosition(oldest, FIRST_OFFSET), surely_before=False)


def _transactions(
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    start: BinlogPosition,
    excluded: list[ExcludedRange],
) -> Iterator[tuple[Digested, SourcePosition]]:
    """All transactions with changes from a border on, up to where the binlog ended when its files
    were listed.
    """
    names = list(files)
    newest = BinlogPosition(names[-1], files[names[-1]])
    digest = TransactionDigest()
    for item in items_between(settings, server, start, newest, excluded):
        digest.take(item)
        if isinstance(item, TransactionEnd) and (whole := digest.ended()) is not None:
            yield whole, SourcePosition(item.position, "", item.identity)
