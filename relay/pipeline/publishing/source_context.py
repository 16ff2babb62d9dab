"""The data that the publisher keeps for each source of its items."""

from dataclasses import dataclass

from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.schema import TableDefinitions


@dataclass(frozen=True, slots=True)
class SourceContext:
    """A source's tables, and its transactions that are prepared."""

    definitions: TableDefinitions
    prepared: PreparedTransactions
