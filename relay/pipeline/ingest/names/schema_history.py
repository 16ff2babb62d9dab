"""Gives names to the columns of table maps without names, from the schema history of the source.

The history is opened at the start position. Its new records are stored with the position.
"""

from collections.abc import Collection, Iterable
from typing import Final

from relay.errors import PositionUnreadable, SourceSettingsRefused
from relay.model.change import Statement
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.table import TableId, TableMap
from relay.pipeline.ingest.names.kept_history import KeptHistory
from relay.pipeline.ingest.names.schema_bootstrap import NamesOpening
from relay.position import KeptRecords
from relay.schema import Base, CatalogReader, FollowedTables, TableHistory, Version, parse_record
from relay.settings import SourceSettings
from relay.source import ServerFacts

_NAMES_REMEDY: Final = (
    "SET GLOBAL binlog_row_metadata=FULL on the source, let its sessions reconnect, and start from "
    "a position after the change."
)

_ORACLE_TYPES_SINCE: Final = (10, 3, 0)
"""The first MariaDB version in which sql_mode=ORACLE changes types; MySQL has none."""


class TableNames:
    """Completes table maps while the reading thread follows statements, and passes new history
    records to the checkpoint.

    `superseded` are the keys of stored records that are deleted when the first new records are
    stored.
    """

    def __init__(
        self, history: TableHistory, records: KeptRecords, superseded: Iterable[bytes] = ()
    ) -> None:
        self._history = history
        self._records = records
        self._superseded = list(superseded)

    @property
    def begun(self) -> bool:
        """Return whether the schema history was begun again from the source's catalogue, because no
        stored one could be used.

        Then the first position record is committed at once, so that a restart does not repeat this
        slow step.
        """
        return self._history.begun

    def complete(self, bare: TableMap) -> TableMap:
        """Return the table map with column names. If they are not known, return it without names;
        its `unknown` then says why.
        """
        return self._history.complete(bare)

    def apply(self, statement: Statement) -> bool:
        """Apply a statement to the history; return whether table maps must be completed again after
        it.
        """
        return self._history.apply(statement)

    def at(self, identity: SourceIdentity) -> None:
        """Set the identity of the server and binlog file from which the next events are read."""
        self._history.at(identity)

    def taken(self, at: BinlogPosition) -> list[OutboundMessage]:
        """Return the messages that store the new history up to the position `at`; they are
        committed with its record.
        """
        gone, self._superseded = self._superseded, []
        new = ((each.key, each.to_bytes()) for each in self._history.taken(at))
        return self._records.messages([*((key, None) for key in gone), *new])


def open_names(
    records: KeptRecords,
    settings: SourceSettings,
    start: SourcePosition,
    server: ServerFacts,
    catalog: CatalogReader,
    followed: SourcePosition | None,
    doubtful: Collection[TableId],
) -> TableNames | None:
    """Return the names of the source's columns at the start position; None if its table maps
    contain names.

    records   the store of the schema history
    settings  the settings of the source
    start     the start position
    server    the facts about the server
    catalog   reads the source's catalogue
    followed  the position up to which the stored history was read; None: it was never read
    doubtful  tables whose rows did not fit their description; they are described again

    Raises SchemaMismatch if the catalogue lacks one of the `doubtful` tables.
    """
    if doubtful and settings.names == "table_map":
        raise SourceSettingsRefused(
            f"The table map of {', '.join(map(str, doubtful))} carries no column names.",
            remedy=_NAMES_REMEDY,
        )
    if not doubtful and not server.needs_history(settings):
        return None
    records.ensure_topic()
    kept = _readable(records)
    schemas = _no_schemas(server)
    stored = KeptHistory(settings, schemas, start, kept)
    opening = NamesOpening(settings, catalog, schemas, start)
    history = stored.continued(followed) or opening.anew()
    opening.repair(history, doubtful)
    gone = stored.superseded(followed) + (stored.passed_bases() if history.begun else [])
    return TableNames(history, records, gone)


def _no_schemas(server: ServerFacts) -> FollowedTables:
    folds_case = server.variables.get("lower_case_table_names", "0") != "0"
    return FollowedTables(
        mariadb=server.mariadb,
        server_charset=server.variables.get("character_set_server"),
        folds_case=folds_case,
        has_oracle_types=server.version >= _ORACLE_TYPES_SINCE,
    )


def _readable(records: KeptRecords) -> list[Version | Base]:
    """Return the stored records; raises PositionUnreadable for those of a newer relay."""
    try:
        return [parse_record(key, value) for key, value in records.read().items()]
    except (ValueError, KeyError, TypeError) as exc:
        raise PositionUnreadable(f"A record of {records.topic} cannot be read ({exc}).") from exc
