from typing import Final, NamedTuple

class KazooState:
    SUSPENDED: Final = "SUSPENDED"
    CONNECTED: Final = "CONNECTED"
    LOST: Final = "LOST"

class KeeperState:
    AUTH_FAILED: Final = "AUTH_FAILED"

class EventType:
    CREATED: Final = "CREATED"
    DELETED: Final = "DELETED"
    CHANGED: Final = "CHANGED"
    CHILD: Final = "CHILD"
    NONE: Final = "NONE"

class WatchedEvent(NamedTuple):
    type: str
    state: str
    path: str | None

class ZnodeStat(NamedTuple):
    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeralOwner: int
    dataLength: int
    numChildren: int
    pzxid: int
