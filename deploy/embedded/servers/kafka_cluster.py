"""Three Kafka brokers that form one cluster, each of them also a controller."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from deploy.embedded.servers.kafka import Kafka

_COPIES: Final = 3
_IN_SYNC: Final = 2


class KafkaCluster:
    """Three broker processes, of which one may be stopped.

    Kafka's internal topics have replication factor 3 and `min.insync.replicas` 2.
    """

    def __init__(
        self, properties: Mapping[str, str | int] | None = None, *, heap: str = "384m"
    ) -> None:
        """Use `properties` for every broker; they override the defaults."""
        self.brokers = [Kafka(heap=heap) for _ in range(_COPIES)]
        voters = ",".join(
            f"{node}@{broker.controller_address}" for node, broker in enumerate(self.brokers, 1)
        )
        for node, broker in enumerate(self.brokers, 1):
            broker.properties = {
                "node.id": node,
                "controller.quorum.voters": voters,
                "offsets.topic.replication.factor": _COPIES,
                "transaction.state.log.replication.factor": _COPIES,
                "transaction.state.log.min.isr": _IN_SYNC,
                "share.coordinator.state.topic.replication.factor": _COPIES,
                "share.coordinator.state.topic.min.isr": _IN_SYNC,
                "default.replication.factor": _COPIES,
                "min.insync.replicas": _IN_SYNC,
                "controlled.shutdown.enable": "true",
                **(properties or {}),
            }
        self._stack = ExitStack()

    @property
    def bootstrap(self) -> str:
        """Return all three addresses, so that a client connects while one broker is stopped."""
        return ",".join(broker.bootstrap for broker in self.brokers)

    def broker(self, node: int) -> Kafka:
        """Return the broker with this id, from 1 on."""
        return self.brokers[node - 1]

    def __enter__(self) -> Self:
        with ThreadPoolExecutor(_COPIES) as starts:  # no broker is ready before two have started
            try:
                list(starts.map(self._stack.enter_context, self.brokers))
            except BaseException:
                self._stack.close()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
