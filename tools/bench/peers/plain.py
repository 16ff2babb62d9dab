"""A producer without a relay as a contestant: the limit of the client library on this machine."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded import ServerProcess
from tools.bench.peers.contestant import RunSetup, Topics
from tools.bench.peers.java_peer import make_topics

_PROJECT: Final = Path(__file__).parents[3]


class PlainProducer(ServerProcess):
    """Sends the relay's messages from `topic` again, to measure the limit of the client library."""

    name: ClassVar[str] = "plain-producer"

    def __init__(self, setup: RunSetup, topic: str) -> None:
        super().__init__()
        self.packed = False
        self.topics = Topics((f"plain_{setup.label}",), f"plain_{setup.label}_finish")
        self._setup = setup
        self._topic = topic

    @classmethod
    def fetch(cls) -> str:
        """Return the name of the client library, which is installed with the relay."""
        return "confluent-kafka"

    @property
    def address(self) -> str:
        """Return the broker's address: the process listens on no port."""
        return self._setup.kafka.address

    def _prepare(self) -> None:
        make_topics(self._setup.kafka, self.topics.all)

    def _command(self) -> Sequence[str | Path]:
        arguments = [
            self._setup.kafka.bootstrap,
            self._topic,
            *self.topics.all,
            str(self._setup.written.changes),
        ]
        return [sys.executable, "-m", "tools.bench.measuring.resend", *arguments]

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "PYTHONPATH": str(_PROJECT)}

    def _answers(self) -> bool:
        return True
