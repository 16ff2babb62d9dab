"""A second reader of a binlog: the events of mysql-replication beside those of the relay (ADR
8).
"""

from relay.second_reader.pairs import Pair, Stretch, pairs
from relay.second_reader.show import Shown, shown_pairs
from relay.second_reader.verify import Report, verify

__all__ = ["Pair", "Report", "Shown", "Stretch", "pairs", "shown_pairs", "verify"]
