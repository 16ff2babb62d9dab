"""Raw items of the source on disk, for the time that Kafka cannot take them."""

from relay.spool.cursor import SpoolCursor, SpooledItems
from relay.spool.folder_lock import FolderLock
from relay.spool.spool import Spool

__all__ = ["FolderLock", "Spool", "SpoolCursor", "SpooledItems"]
