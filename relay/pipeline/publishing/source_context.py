"""What the walk knows of each source that it takes items of."""

from dataclasses import dataclass

from relay.pipeline.ingest.schema_history import TableNames
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.schema import TableDefinitions


@dataclass(frozen=True, slots=True)
class WalkedSource:
    """A source's tables, the names that its table maps lack (None: none), and its transactions that are prepared."""

    definitions: TableDefinitions
    prepared: PreparedTransactions
    names: TableNames | None = None
