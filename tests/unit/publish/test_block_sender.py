"""The compiled sender takes the client that was made last, and no other."""

from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer, cimpl

from relay.compiled import COMPILED

if COMPILED:
    from relay.compiled.kafka_client import block_sender

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled sender was not built")


def with_sender(**configuration: str) -> Producer:
    block_sender.load(cimpl.__file__)
    return Producer(
        {"plugin.library.paths": block_sender.__file__, "log_level": "0", **configuration}
    )


def test_a_client_is_taken_once() -> None:
    client = with_sender()
    assert block_sender.BlockSender(client).refusal is None
    with pytest.raises(OSError, match="did not load its plugin"):
        block_sender.BlockSender(client)


def test_a_client_that_could_not_be_made_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(KafkaException, match="ca"):
        with_sender(
            **{"security.protocol": "ssl", "ssl.ca.location": str(tmp_path / "missing.pem")}
        )
    with pytest.raises(OSError, match="did not load its plugin"):
        block_sender.BlockSender(Producer({}))
