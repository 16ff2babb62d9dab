"""A broker whose clients come through a gate, which can be shut or turned into a black hole while
the broker lives on.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from deploy.embedded import Kafka
from deploy.embedded.processes.ports import HOST
from tests.support.relays.tcp_gate import TcpGate


class GatedKafka(Kafka):
    """`bootstrap` leads through `line`, and so does every address that the broker names to who came
    that way; `direct` does not.
    """

    def __init__(self, properties: Mapping[str, str | int]) -> None:
        super().__init__()
        self._inner_port = self._reserve_port()
        self.line = TcpGate(HOST, self._inner_port)
        plain, gated, controller = (
            f"{name}://{HOST}" for name in ("PLAINTEXT", "GATED", "CONTROLLER")
        )
        self.properties = {
            "listeners": (
                f"{plain}:{self.port},{gated}:{self._inner_port},{controller}:{self._controller_port}"
            ),
            "advertised.listeners": f"{plain}:{self.port},{gated}:{self.line.port}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,GATED:PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "inter.broker.listener.name": "PLAINTEXT",
            **properties,
        }

    @property
    def bootstrap(self) -> str:
        """Return the address that leads through the gate; `direct` does not."""
        return self.line.address

    @property
    def direct(self) -> str:
        """What clients call bootstrap.servers that are not to notice the gate."""
        return self.address

    def __enter__(self) -> Self:
        self.line.__enter__()
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.line.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)
