"""The schema history of one source, as the reading thread uses it."""

from collections import deque
from collections.abc import Iterable

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.table import TableId, TableMap
from relay.schema.ddl import classify
from relay.schema.history.described import DescribedTable
from relay.schema.history.fitting import completed
from relay.schema.history.followed_tables import FollowedTables
from relay.schema.history.history_position import HistoryPosition
from relay.schema.history.versions import Base, Version, enter


class TableHistory:
    """Adds column names to table maps without names, and follows the DDL statements of the binlog.

    The reading thread uses it; other threads call only `taken`.

    later  stored versions of tables for later positions; from these positions on they replace what
           was derived from statements
    begun  whether the records to store include a new base
    """

    def __init__(
        self, schemas: FollowedTables, identity: SourceIdentity, later: Iterable[Version] = ()
    ) -> None:
        self.begun = False
        self._schemas = schemas
        self._identity = identity
        self._later: dict[BinlogPosition, list[Version]] = {}
        self._new: deque[Version | Base] = deque()
        self.expect(later)

    def begin(self, base: HistoryPosition, held: str) -> None:
        """Store all known descriptions as a new base at the position `base`. `held` is the GTID set
        there.
        """
        self.begun = True
        self._new.append(Base(base, held))
        databases = (
            (TableId(name, ""), charset) for name, charset in self._schemas.databases.items()
        )
        for table, known in (*databases, *self._schemas.tables.items()):
            self._new.append(Version(base, table, known, initial=True))

    def expect(self, versions: Iterable[Version]) -> None:
        """Use these versions of tables from their positions on, which must be later than the
        present one.
        """
        for version in versions:
            self._later.setdefault(
                BinlogPosition(version.position.file, version.position.offset), []
            ).append(version)

    def keep(self, version: Version) -> None:
        """Use this version of a table from now on, and store it."""
        enter(version, self._schemas)
        self._new.append(version)

    def at(self, identity: SourceIdentity) -> None:
        """Set the identity of the server and binlog file from which the next events are read."""
        self._identity = identity

    def apply(self, statement: Statement) -> bool:
        """Apply a statement; return whether it may have changed a table."""
        position = HistoryPosition.of(self._identity, *statement.position)
        changed = self._schemas.apply(statement, classify(statement))
        known_better = self._later.pop(statement.position, ())
        for version in known_better:
            enter(version, self._schemas)
        for table in dict.fromkeys((*changed, *(version.table for version in known_better))):
            known = (
                self._schemas.of(table)
                if table.table
                else self._schemas.databases.get(table.database)
            )
            self._new.append(Version(position, table, known))
        return bool(changed or known_better)

    def complete(self, bare: TableMap) -> TableMap:
        """Return the table map with its names; if they are unknown, its field `unknown` has the
        reason.
        """
        known = self._schemas.of(bare.id)
        whole = (
            completed(bare, known)
            if isinstance(known, DescribedTable)
            else known or "nothing is known of it"
        )
        return whole if isinstance(whole, TableMap) else bare.without_names(whole)

    def taken(self, before: BinlogPosition) -> list[Version | Base]:
        """Remove and return the history records that must be stored together with a position
        record.

        `before` is the position in that record. Returned are bases with their initial versions, and
        versions before that position. Later versions are kept for a later call.
        """
        taken: list[Version | Base] = []
        while self._new and (
            isinstance(self._new[0], Base)
            or _is_initial(self._new[0])
            or _position(self._new[0]) < before.rank
        ):
            taken.append(self._new.popleft())
        return taken


def _is_initial(record: Version | Base) -> bool:
    return isinstance(record, Version) and record.initial


def _position(record: Version | Base) -> tuple[int, int]:
    return record.position.number, record.position.offset
