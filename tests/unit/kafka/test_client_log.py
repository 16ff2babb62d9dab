"""The Kafka client's lines come through the relay's log, and do not flood it."""

import io
import json
from typing import Any

import pytest

from relay.errors import BrokerUnreachable
from relay.kafka import TopicAdmin
from relay.kafka.client_log import MOST_KINDS, PAUSE_SECONDS, ClientLog
from relay.settings import KafkaSettings, LogSettings
from relay.telemetry import set_up_logging

REFUSED = (
    "[thrd:kafka{0}:9092/{0}]: Connect to ipv4#10.0.0.{0}:9092 failed: Connection refused (after "
    "{0}ms in state CONNECT)"
)


@pytest.fixture
def written() -> io.StringIO:
    stream = io.StringIO()
    set_up_logging(LogSettings(format="json"), stream)
    return stream


def lines(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_lines_that_differ_in_numbers_are_one_in_a_while(written: io.StringIO) -> None:
    now = [0.0]
    log = ClientLog(lambda: now[0])
    for number in range(300):
        log.log(40, "%s [%s] %s", "FAIL", f"rdkafka#producer-{number}", REFUSED.format(number))
    log.log(40, "%s [%s] %s", "SSL", "rdkafka#producer-1", "certificate verify failed")
    now[0] = PAUSE_SECONDS
    log.log(40, "%s [%s] %s", "FAIL", "rdkafka#producer-7", REFUSED.format(7))
    first, other, later = lines(written)
    assert (first["event"], first["level"], first["facility"], first["text"]) == (
        "kafka_client",
        "warning",
        "FAIL",
        REFUSED.format(0),
    )
    assert (other["facility"], "suppressed" in other) == ("SSL", False)
    assert (later["client"], later["suppressed"]) == ("rdkafka#producer-7", 299)


def test_it_forgets_old_kinds_when_there_are_many(written: io.StringIO) -> None:
    log = ClientLog(lambda: 0.0)
    for _ in range(2):
        for number in range(MOST_KINDS):
            log.log(40, "", "FAIL", "c", chr(0x4E00 + number))
    assert len(lines(written)) == MOST_KINDS
    log.log(40, "", "FAIL", "c", "one more")
    log.log(40, "", "FAIL", "c", chr(0x4E00))
    assert len(lines(written)) == MOST_KINDS + 2


@pytest.mark.slow
def test_a_real_client_writes_nothing_beside_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    set_up_logging(LogSettings(format="json"), stream)
    with pytest.raises(BrokerUnreachable):
        TopicAdmin(
            KafkaSettings(bootstrap_servers="127.0.0.1:1", client={"socket.timeout.ms": 1000})
        ).state("x")
    assert capfd.readouterr() == ("", "")
