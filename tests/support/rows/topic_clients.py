"""Clients that are reused for the next read of a topic, with their connections.

A test that waits for rows reads the topic many times a second. A new client for each read costs the
broker five times as much as the read itself.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final, TypeVar

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient

Client = TypeVar("Client", Consumer, AdminClient)
_IDLE_SECONDS: Final = 2.0
"""Longest idle time of a client that is used again, in seconds. It is shorter than a broker's
restart, after which a client waits before it connects again.
"""


class _Idle(dict[tuple[str, str], list[tuple[float, Client]]]):
    """Clients by broker and use, each with the time at which it became idle."""

    @contextmanager
    def lend(self, bootstrap: str, use: str, make: Callable[[], Client]) -> Iterator[Client]:
        """Context manager: a client that was used recently, or a new one. It is dropped if the
        block fails.
        """
        for idle in list(self.values()):
            while idle and monotonic() - idle[0][0] > _IDLE_SECONDS:
                _close(idle.pop(0)[1])
        idle = self.setdefault((bootstrap, use), [])
        client = idle.pop()[1] if idle else make()
        try:
            yield client
        except BaseException:
            _close(client)
            raise
        idle.append((monotonic(), client))


_consumers: Final[_Idle[Consumer]] = _Idle()
_admins: Final[_Idle[AdminClient]] = _Idle()


@contextmanager
def consumer_of(bootstrap: str, isolation: str = "read_committed") -> Iterator[Consumer]:
    """Context manager: a consumer without partitions, which reports the ends of partitions."""
    configuration: dict[str, str | int | bool] = {
        "bootstrap.servers": bootstrap,
        "group.id": "tests",
        "isolation.level": isolation,
        "enable.partition.eof": True,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        # an answer without messages tells the end, and the broker holds it back for so long
        "fetch.wait.max.ms": 10,
        "log_level": 0,  # its broker may end before it
    }
    with _consumers.lend(bootstrap, isolation, lambda: Consumer(configuration)) as consumer:
        yield consumer
        consumer.unassign()


@contextmanager
def admin_of(bootstrap: str) -> Iterator[AdminClient]:
    """Context manager: an admin client."""
    with _admins.lend(
        bootstrap, "", lambda: AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    ) as admin:
        yield admin


def _close(client: Consumer | AdminClient) -> None:
    if isinstance(client, Consumer):
        client.close()
