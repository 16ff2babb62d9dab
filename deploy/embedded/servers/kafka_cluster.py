"""Three Kafka brokers that form one cluster, each of them controller, too."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from deploy.embedded.servers.kafka import Kafka

_COPIES: Final = 3
_IN_SYNC: Final = 2


class KafkaCluster:
    """Every topic of the brokers' own has three copies, two of which must be in sync.

    One broker may be away.
    """

    def __init__(
        self, properties: Mapping[str, str | int] | None = None, *, heap: str = "384m"
    ) -> None:
        """`properties` go to every broker and win over ours."""
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
        """All three addresses, so that any one may be away."""
        return ",".join(broker.bootstrap for broker in self.brokers)

    def broker(self, node: int) -> Kafka:
        """The broker that the cluster knows by this number, from 1 on."""
        return self.brokers[node - 1]

    def __enter__(self) -> Self:
        with ThreadPoolExecutor(_COPIES) as starts:  # none of them answers before two are there
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
