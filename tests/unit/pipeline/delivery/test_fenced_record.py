"""Which ids a relay fences before it trusts the position record."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from relay.errors import KafkaNotPermitted, PositionNewer, PositionUnreadable
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery import new_producer as module
from relay.pipeline.delivery.new_producer import fenced_record
from relay.settings import InstanceSettings, KafkaSettings
from tests.unit.pipeline.delivery.test_outbox import RECORD

USED = replace(RECORD, second_id=True)


class Reads:
    """Gives one outcome after the other, and notes the fences between them."""

    def __init__(self, *outcomes: PositionRecord | Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.steps: list[str] = []

    def __call__(self) -> PositionRecord | None:
        self.steps.append("read")
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture
def fenced(monkeypatch: pytest.MonkeyPatch) -> Callable[..., PositionRecord | None]:
    def call(
        reads: Reads, refusal: Exception | None = None, **transaction: object
    ) -> PositionRecord | None:
        def fence(*_: object) -> None:
            if refusal is not None:
                raise refusal
            reads.steps.append("fence")

        monkeypatch.setattr(module, "fence_second", fence)
        source = {"host": "127.0.0.1", "user": "nobody", "server_id": 1}
        instance = InstanceSettings.model_validate(
            {"name": "shop", "source": source, "transaction": transaction}
        )
        kafka = KafkaSettings(bootstrap_servers="127.0.0.1:1")
        return fenced_record("prod", kafka, instance, reads)

    return call


Fenced = Callable[..., PositionRecord | None]


@pytest.mark.parametrize("record", [None, RECORD])
def test_a_record_of_one_id_is_read_once(fenced: Fenced, record: PositionRecord | None) -> None:
    reads = Reads(record)
    assert fenced(reads) == record
    assert reads.steps == ["read"]


def test_a_record_of_two_ids_is_read_again_behind_the_second_fence(fenced: Fenced) -> None:
    reads = Reads(USED, replace(USED, epoch=4))
    assert fenced(reads) == replace(USED, epoch=4)
    assert reads.steps == ["read", "fence", "read"]


def test_settings_of_two_ids_fence_both_whatever_the_record_says(fenced: Fenced) -> None:
    reads = Reads(None, RECORD)
    assert fenced(reads, producers=2) == RECORD
    assert reads.steps == ["read", "fence", "read"]


def test_an_open_transaction_of_the_second_id_is_ended(fenced: Fenced) -> None:
    reads = Reads(PositionUnreadable("Hidden."), USED)
    assert fenced(reads) == USED
    assert reads.steps == ["read", "fence", "read"]


def test_a_principal_of_one_id_gets_the_reason_of_the_read(fenced: Fenced) -> None:
    reads = Reads(PositionUnreadable("Hidden."))
    with pytest.raises(PositionUnreadable, match="Hidden"):
        fenced(reads, KafkaNotPermitted("Write on transactional-id prod.second.shop"))


def test_a_newer_record_is_no_reason_to_fence(fenced: Fenced) -> None:
    reads = Reads(PositionNewer(99, 9))
    with pytest.raises(PositionNewer):
        fenced(reads)
    assert reads.steps == ["read"]


def test_without_transactions_nothing_is_fenced(fenced: Fenced) -> None:
    reads = Reads(USED)
    assert fenced(reads, delivery="at_least_once", producers=2) == USED
    assert reads.steps == ["read"]
