"""Holds the data that the publisher needs for each source: table definitions and prepared XA
transactions.
"""

from dataclasses import dataclass

from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.schema import TableDefinitions


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The data of one source that the publisher needs: the definitions of its tables, and its
    prepared XA transactions.
    """

    definitions: TableDefinitions
    prepared: PreparedTransactions
