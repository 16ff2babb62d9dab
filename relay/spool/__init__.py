"""Raw items of the source on disk, for the time that Kafka cannot take them."""

from relay.spool.cursor import SpoolCursor, SpooledItems
from relay.spool.owned_folder import OwnedFolder
from relay.spool.spool import Spool

__all__ = ["OwnedFolder", "Spool", "SpoolCursor", "SpooledItems"]
