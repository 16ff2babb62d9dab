"""Sessions with a test's ZooKeeper."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from relay.deadline import Deadline
from relay.errors import NodeMissing, StoreRefused
from relay.settings import ZooKeeperSettings
from relay.zk import Session


@contextmanager
def session_with(
    hosts: str, timeout_seconds: float = 20, answer_seconds: float = 60
) -> Iterator[Session]:
    """Context manager: open a session; its usual times are enough on a busy machine."""
    settings = ZooKeeperSettings(hosts=hosts, session_timeout_seconds=timeout_seconds)
    session = Session(settings, answer_seconds=answer_seconds)
    try:
        session.start(Deadline.after(60))
        yield session
    finally:
        session.stop()


def wipe(session: Session, path: str) -> None:
    """Delete a node and everything below it, as if the ensemble had lost its data. Running relays
    write their own nodes again.
    """
    with suppress(NodeMissing):
        for name in session.children(path):
            wipe(session, f"{path}/{name}")
    with suppress(NodeMissing, StoreRefused):
        session.delete(path)
