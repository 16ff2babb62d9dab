"""The data that the publisher keeps for each source of its items."""

from dataclasses import dataclass

from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.schema import TableDefinitions


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What the publisher keeps for one source: the definitions of its tables, and its prepared XA
    transactions.
    """

    definitions: TableDefinitions
    prepared: PreparedTransactions
