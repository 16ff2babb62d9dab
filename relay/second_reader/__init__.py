"""Reads a binlog with a second library, mysql-replication, and compares its events with the relay's
(ADR 8).

"The library" in this package is mysql-replication.
"""

from relay.second_reader.pairs import Pair, Stretch, pairs
from relay.second_reader.show import Shown, shown_pairs
from relay.second_reader.verify import Report, verify

__all__ = ["Pair", "Report", "Shown", "Stretch", "pairs", "shown_pairs", "verify"]
