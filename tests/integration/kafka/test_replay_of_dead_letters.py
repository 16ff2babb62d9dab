"""A dead letter is sent again: once, and not where it would replace a newer row."""

import json
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest
import tomli_w
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.cli import app
from relay.dead_letters import DeadLetter, DeadLetterTopic, LastOfKey, ListedDeadLetter
from relay.envelope import Header, order_text
from relay.errors import ReplayRefused
from relay.model.message import Headers, OutboundMessage
from relay.operations.replay import check, replay
from relay.operations.who import Who
from relay.settings import RelaySettings
from tests.servers.fixtures import FreshName
from tests.support.rows.topic_clients import admin_of
from tests.support.rows.topic_reading import read_topic

KEY = b'["shop.t","7"]'


def order_header(position: int) -> Headers:
    return ((Header.ORDER.value, order_text(1, position).encode()),)


@pytest.fixture
def settings(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    brokers = {"replication_factor": 1, "min_insync_replicas": 1}
    return RelaySettings.model_validate(
        {
            "installation": fresh_name("letters"),
            "kafka": {"bootstrap_servers": kafka.bootstrap, **brokers},
            "zookeeper": {"hosts": zookeeper.hosts},
            "instances": [{"name": "shop", "source": {"host": "h", "user": "u", "server_id": 1}}],
        }
    )


def kept_letter(
    kafka: Kafka, settings: RelaySettings, policy: str = "delete", value: bytes = b'{"data":[]}'
) -> DeadLetter:
    """Make a topic, and a dead letter with a message for it."""
    topic = f"{settings.installation}.rows"
    with admin_of(kafka.bootstrap) as admin:
        new = NewTopic(topic, 1, 1, config={"cleanup.policy": policy})
        admin.create_topics([new])[topic].result(60)
    message = OutboundMessage(topic, 0, KEY, value, order_header(2))
    letter = DeadLetter(
        id="0001-0",
        code="MESSAGE_TOO_LARGE",
        reason="too large.",
        real="shop.t",
        logical="shop.t",
        file="b.000007",
        offset=4711,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=message,
        value_bytes=11,
    )
    letters = DeadLetterTopic(settings.kafka, settings.installation, "shop")
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for part in letters.messages(letter, letters.ensure()):
        producer.produce(part.topic, part.value, part.key, part.partition)
    assert producer.flush(60) == 0
    return letter


def test_one_of_two_replays_at_the_same_time_sends_the_message(
    kafka: Kafka, settings: RelaySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = kept_letter(kafka, settings)
    both = Barrier(2)
    ends: list[object] = []

    def check_at_once(found: ListedDeadLetter, *, again: bool) -> None:
        check(found, again=again)
        both.wait(60)

    def send(actor: str) -> None:
        try:
            ends.append(replay(settings, settings.instances[0], letter.id, Who(actor)))
        except ReplayRefused as exc:
            ends.append(exc)

    monkeypatch.setattr(sys.modules[check.__module__], "check", check_at_once)
    threads = [Thread(target=send, args=(actor,)) for actor in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(each, ReplayRefused) for each in ends) == [False, True]
    assert len(read_topic(kafka.bootstrap, letter.message.topic)) == 1
    monkeypatch.undo()
    with pytest.raises(ReplayRefused, match="was already sent by"):
        replay(settings, settings.instances[0], letter.id, Who("eve"))


@pytest.mark.timeout(120)
def test_a_row_does_not_replace_a_newer_one_in_a_compacted_topic(
    kafka: Kafka, settings: RelaySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = kept_letter(kafka, settings, "compact")
    topic = letter.message.topic
    producer = Producer({"bootstrap.servers": kafka.bootstrap})

    def publish(position: int) -> None:
        producer.produce(topic, b"{}", KEY, headers=list(order_header(position)))
        assert producer.flush(60) == 0

    def send() -> None:
        replay(settings, settings.instances[0], letter.id, Who("ann"))

    publish(1)
    check_before = LastOfKey.check

    def newer_meanwhile(last: LastOfKey, forgets_ms: int | None) -> None:
        check_before(last, forgets_ms)
        publish(3)

    monkeypatch.setattr(LastOfKey, "check", newer_meanwhile)
    with pytest.raises(
        ReplayRefused, match="older than the record with the same key at partition 0, offset 1"
    ):
        send()
    monkeypatch.undo()
    with pytest.raises(ReplayRefused, match="the older row would replace the newer one"):
        send()
    assert [each.value for each in read_topic(kafka.bootstrap, topic)] == [{}, {}]


@pytest.mark.timeout(120)
def test_a_row_that_is_the_newest_of_its_key_is_sent_to_a_compacted_topic(
    kafka: Kafka, settings: RelaySettings
) -> None:
    letter = kept_letter(kafka, settings, "compact")
    assert replay(settings, settings.instances[0], letter.id, Who("ann")) == letter.message
    [found] = read_topic(kafka.bootstrap, letter.message.topic)
    assert found.value == {"data": []}


def command(
    settings: RelaySettings,
    folder: Path,
    letter: str,
    *options: str,
    typed: str = "",
    act: str = "replay",
) -> Result:
    """Run `roma dead-letter replay`, or another act."""
    file = folder / "relay.toml"
    written = settings.model_dump(mode="json", exclude_unset=True)
    file.write_text(tomli_w.dumps(written), encoding="utf-8")
    asked = ["dead-letter", act, letter, "--config", str(file), "--instance", "shop", *options]
    return CliRunner().invoke(app, asked, input=typed)


@pytest.mark.timeout(120)
def test_the_command_shows_newer_changes_of_the_key_before_it_asks(
    kafka: Kafka, settings: RelaySettings, tmp_path: Path
) -> None:
    letter = kept_letter(kafka, settings)
    topic = letter.message.topic
    none = command(settings, tmp_path, letter.id, typed="no\n")
    assert none.exit_code == 1
    assert f"{topic} has no newer change of its key.\nType shop to confirm" in none.output
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for position in (1, 3, 4):
        producer.produce(topic, b"{}", KEY, headers=list(order_header(position)))
    assert producer.flush(60) == 0
    newer = command(settings, tmp_path, letter.id, typed="no\n")
    assert f"{topic} has 2 newer changes of its key: consumers" in newer.output
    assert newer.output.index("newer changes") < newer.output.index("Type shop")
    assert len(read_topic(kafka.bootstrap, topic)) == 3


@pytest.mark.timeout(120)
def test_the_command_shows_newer_changes_to_programs(
    kafka: Kafka, settings: RelaySettings, tmp_path: Path
) -> None:
    letter = kept_letter(kafka, settings)
    asked = command(settings, tmp_path, letter.id, "--json")
    assert asked.exit_code == 2
    shown = json.loads(asked.stdout)
    assert shown["later"] == {"count": 0, "newest_ms": None, "is_whole": True}
    sent = command(settings, tmp_path, letter.id, "--json", "--yes", "shop")
    assert sent.exit_code == 0, sent.output
    done = json.loads(sent.stdout)
    assert {**done, "sentences": []} == {
        "id": letter.id,
        "topic": letter.message.topic,
        "partition": 0,
        "later": {"count": 0, "newest_ms": None, "is_whole": True},
        "sent": True,
        "sentences": [],
    }


def test_the_command_asks_nothing_about_a_letter_that_it_cannot_send(
    kafka: Kafka, settings: RelaySettings, tmp_path: Path
) -> None:
    letter = kept_letter(kafka, settings)
    unknown = command(settings, tmp_path, "0009-9", typed="shop\n")
    assert (unknown.exit_code, "Type shop" in unknown.output) == (1, False)
    assert command(settings, tmp_path, letter.id, typed="shop\n").exit_code == 0
    again = command(settings, tmp_path, letter.id, typed="shop\n")
    assert (again.exit_code, "Type shop" in again.output) == (1, False)
    assert "was already sent by" in again.output


@pytest.mark.parametrize(
    ("value", "shown"),
    [(b'{"data":[]}', ('{"data":[]}', None)), (b"\x00\xff", (None, "AP8="))],
)
def test_a_letter_is_shown_to_programs_with_its_value(
    kafka: Kafka,
    zookeeper: ZooKeeper,
    settings: RelaySettings,
    tmp_path: Path,
    value: bytes,
    shown: tuple[str | None, str | None],
) -> None:
    letter = kept_letter(kafka, settings, value=value)
    reached = settings.zookeeper.model_copy(update={"hosts": zookeeper.hosts})
    masks = settings.model_copy(update={"zookeeper": reached})
    told = command(masks, tmp_path, letter.id, "--json", act="show")
    found = json.loads(told.stdout)
    assert (found["value"], found["value_base64"]) == shown
    assert (found["id"], found["code"], found["replayed"]) == (letter.id, letter.code, None)
