"""A second opinion on a binlog: what mysql-replication reads of a stretch, beside what the relay
makes of it (ADR 8).
"""

from relay.second_reader.pairs import Pair, Stretch, pairs
from relay.second_reader.show import Shown, shown_pairs
from relay.second_reader.verify import Report, verify

__all__ = ["Pair", "Report", "Shown", "Stretch", "pairs", "shown_pairs", "verify"]
