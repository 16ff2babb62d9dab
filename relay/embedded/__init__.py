"""Row changes of one source inside a Python program, without Kafka and ZooKeeper.

with embedded.open(source, ["shop.orders"], position=Path("orders.position")) as changes:
    for change in changes:
        apply(change)
        changes.ack()
"""

from relay.embedded.changes import EmbeddedChanges
from relay.embedded.opening import open  # noqa: A004 - `embedded.open`, as a file is opened
from relay.embedded.position_store import PositionCallbacks, PositionFile, PositionStore
from relay.embedded.settings import EmbeddedSettings

__all__ = [
    "EmbeddedChanges",
    "EmbeddedSettings",
    "PositionCallbacks",
    "PositionFile",
    "PositionStore",
    "open",
]
