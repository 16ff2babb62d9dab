"""Proves, before the first row is read, at which position reading continues on another server with
the same history.
"""

from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType

from relay.errors import StandbyBehind, StandbyDiverged, StandbyPurged, SwitchNeedsGtid
from relay.model.failover import Published
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.standby_transactions import standby_transactions
from relay.settings import SourceSettings
from relay.source.positions.binlog_probe import (
    FIRST_OFFSET,
    file_created_s,
    mysql_gtids_of_earlier_files,
)
from relay.source.positions.by_gtid.mariadb_search import MariadbSearch, Sought
from relay.source.positions.resume import binlog_files
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts


@dataclass(frozen=True, slots=True)
class ProvenPosition:
    """The position at which reading continues, and the loss that an operator accepted.

    position  where reading continues
    lost      GTIDs that were published and that the server lacks
    left_out  GTIDs that were never published and that the server has purged
    repeats   True: nothing is proven, and rows since the position are published again
    """

    position: SourcePosition
    lost: str = ""
    left_out: str = ""
    repeats: bool = False

    @property
    def is_exact(self) -> bool:
        """Return whether exactly the published transactions are before the position."""
        return not (self.repeats or self.lost or self.left_out)


def proven_position(
    settings: SourceSettings, published: Published, accepted: str = ""
) -> ProvenPosition:
    """Prove that a server has all published transactions and the binlog of all later ones; return
    the position from which to read it.

    Losses in the GTID set `accepted`, which an operator accepted, are allowed. Raises
    StandbyBehind, StandbyPurged, StandbyDiverged, SwitchNeedsGtid, or the errors of a connection.
    The dump is later requested with the position's GTID set, by which the server decides what it
    sends; the coordinates only name the file where it begins.
    """
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        files = binlog_files(connection)
    if (
        not server.has_gtids
        or not published.gtid_set
        or bool(GtidSet.parse(published.gtid_set).domains) is not server.mariadb
    ):
        raise SwitchNeedsGtid(
            f"{_named(settings)} cannot prove which transactions it has: the published GTIDs are "
            f"{published.gtid_set or 'none'}."
        )
    return (_on_mariadb if server.mariadb else _on_mysql)(
        settings, server, files, published, accepted
    )


def _on_mysql(
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    published: Published,
    accepted: str,
) -> ProvenPosition:
    proof = standby_transactions(
        published.gtid_set, published.split_gtid, server.held, server.purged, accepted
    )
    if proof.behind:
        raise _behind(settings, proof.behind, proof.lacking)
    if not proof.gone.empty:
        raise StandbyPurged(
            f"{_named(settings)} no longer has the binlog of {proof.gone}, which is not published."
        )
    wanted = GtidSet.parse(published.gtid_set)
    left_out = GtidSet.parse(server.purged).without(wanted)
    goes_on = server.held.kept_of(wanted).with_all(left_out)
    file = next(
        (
            file
            for file in reversed(files)
            if goes_on.covers(mysql_gtids_of_earlier_files(settings, server, file))
        ),
        next(iter(files)),
    )
    lost = server.held.lacking(wanted.with_gtid(published.split_gtid))
    return ProvenPosition(_position(settings, server, file, goes_on), str(lost), str(left_out))


def _on_mariadb(
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    published: Published,
    accepted: str,
) -> ProvenPosition:
    proof = standby_transactions(
        published.gtid_set, published.split_gtid, server.held, "", accepted
    )
    if proof.behind:
        raise _behind(settings, proof.behind, proof.lacking)
    if not proof.passed.empty:
        raise _passed(settings, str(proof.passed))
    wanted, held = GtidSet.parse(published.gtid_set), server.held
    goes_on, lost = held.kept_of(wanted), held.lacking(wanted.with_gtid(published.split_gtid))
    search = MariadbSearch.at(settings, server, files)
    gone = [*search.purged_beside(wanted)]
    for domain, (number_server, number) in sorted(goes_on.domains.items()):
        found = search.find(domain, number_server, number)
        if found is Sought.ABSENT:
            raise _passed(settings, f"{domain}-{number_server}-{number}")
        if found is Sought.DISORDERED:
            raise _disordered(settings, f"{domain}-{number_server}-{number}")
        if found is Sought.PURGED:
            gone.append(search.purged_up_to(domain))
    left_out = GtidSet.parse(",".join(gone))
    if not left_out.without(GtidSet.parse(accepted)).empty:
        raise StandbyPurged(
            f"{_named(settings)} no longer has the binlog up to {left_out}, which is not published."
        )
    _find_split(search, settings, published.split_gtid, lost)
    goes_on = GtidSet(goes_on.intervals, MappingProxyType({**goes_on.domains, **left_out.domains}))
    return ProvenPosition(
        _position(settings, server, search.first_file(goes_on), goes_on), str(lost), str(left_out)
    )


def _find_split(
    search: MariadbSearch, settings: SourceSettings, split_gtid: str, lost: GtidSet
) -> None:
    """Check that a half-published transaction itself is there, not another one with its number."""
    for domain, (server, number) in GtidSet.parse(split_gtid).domains.items():
        if domain not in lost.domains and search.find(domain, server, number) is not Sought.FOUND:
            raise StandbyDiverged(
                f"{_named(settings)} does not have {split_gtid}, of which a part was published."
            )


def _passed(settings: SourceSettings, gtids: str) -> StandbyDiverged:
    return StandbyDiverged(
        f"{_named(settings)} lacks {gtids}, which was published, although it has executed later "
        "transactions."
    )


def _disordered(settings: SourceSettings, gtid: str) -> StandbyDiverged:
    return StandbyDiverged(
        f"{_named(settings)} has transactions of the GTID domain of {gtid}, a published "
        "transaction, out of the order of their numbers (gtid_strict_mode is or was OFF). So it "
        f"cannot be proven which of them precede {gtid}."
    )


def _position(
    settings: SourceSettings, server: ServerFacts, file: str, goes_on: GtidSet
) -> SourcePosition:
    identity = SourceIdentity(
        server.server_uuid, server.server_id, file_created_s(settings, server, file)
    )
    return SourcePosition(BinlogPosition(file, FIRST_OFFSET), str(goes_on), identity)


def _behind(settings: SourceSettings, behind: int, lacking: GtidSet) -> StandbyBehind:
    return StandbyBehind(f"{_named(settings)} is {behind} transactions behind: it lacks {lacking}.")


def _named(settings: SourceSettings) -> str:
    return f"The server at {settings.host}:{settings.port}"
