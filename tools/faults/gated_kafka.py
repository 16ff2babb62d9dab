"""A broker behind a proxy, which can drop connections or stop forwarding while the broker runs."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from deploy.embedded import Kafka
from deploy.embedded.processes.ports import HOST
from tests.support.faults.tcp_gate import TcpGate


class GatedKafka(Kafka):
    """`bootstrap` is an address of the proxy `line`; the broker names only such addresses to its
    clients. `direct` bypasses the proxy.
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
        """Return the address of the proxy."""
        return self.line.address

    @property
    def direct(self) -> str:
        """Return `bootstrap.servers` for clients that bypass the proxy."""
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
