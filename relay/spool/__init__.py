"""Stores on the relay's disk what is read from a source, while Kafka cannot accept it.

An item is a part of a source transaction: its begin, a row event, a statement, or its end.
"""

from relay.spool.cursor import SpoolCursor, SpooledItems
from relay.spool.owned_folder import OwnedFolder
from relay.spool.spool import Spool

__all__ = ["OwnedFolder", "Spool", "SpoolCursor", "SpooledItems"]
