"""Erasures that are killed, meet one another, or lose their ZooKeeper session in the middle."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Final

import pytest
import tomli_w
from confluent_kafka import Producer
from typer.testing import CliRunner

from deploy.embedded import Kafka, ZooKeeper
from relay.cli import app
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.errors import DeadLettersUnreadable, ErasureInterrupted, ErasureRefused
from relay.kafka import AT_ONCE, KeyAndValue, PartitionReader, SegmentSetting, TopicRewrite
from relay.model.message import OutboundMessage
from relay.operations import (
    ErasureChoice,
    ErasurePlan,
    PersonErasure,
    Who,
    put_back_settings,
    read_needles,
)
from relay.settings import RelaySettings
from relay.state import ErasureTurn, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_settings, serving
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

KEY: Final = b'["shop.client","7"]'
OWN: Final = "3600000"


class Letters:
    """The dead letters of one instance, which hold one of a key, in a topic with a setting."""

    def __init__(self, settings: RelaySettings, bootstrap: str) -> None:
        self.settings, self.name, self.bootstrap = settings, settings.installation, bootstrap
        letters = DeadLetterTopic(settings.kafka, self.name, "shop")
        letters.ensure()
        self.topic = letters.topic
        self.segments = SegmentSetting(settings.kafka)
        self.segments.write(self.topic, OWN)
        producer = Producer({"bootstrap.servers": bootstrap})
        for message in letters.messages(_letter(), 1_000_000):
            producer.produce(self.topic, message.value, message.key, 0)
        assert producer.flush(20) == 0

    @property
    def segment_ms(self) -> str | None:
        return self.segments.own(self.topic)

    @property
    def first(self) -> int:
        return PartitionReader(self.settings.kafka, self.topic, DeadLettersUnreadable).ends()[0]

    def turn(self, session: Session) -> ErasureTurn:
        paths = Paths.of(self.settings.zookeeper, self.name)
        return ErasureTurn(session, paths, self.name)

    def held_open(self) -> Producer:
        """Begin a transaction: until it ends, nobody can read the letters to their end."""
        producer = Producer(
            {"bootstrap.servers": self.bootstrap, "transactional.id": f"{self.name}.open"}
        )
        producer.init_transactions(20)
        producer.begin_transaction()
        producer.produce(self.topic, b"open", b"open", 0)
        producer.flush(20)
        return producer

    def audited(self) -> list[tuple[str, str, object, object]]:
        from relay.audit import AuditTrail

        entries = AuditTrail(self.settings.kafka, self.name).entries(9)
        return [(each.actor, each.act, each.before, each.after) for each in entries]


def _letter() -> DeadLetter:
    return DeadLetter(
        id="0001-0",
        code="MESSAGE_TOO_LARGE",
        reason="too large.",
        real="shop_01.user",
        logical="shop.client",
        file="b.000007",
        offset=4711,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=OutboundMessage("people", 0, KEY, b"value", ()),
        value_bytes=5,
    )


@pytest.fixture
def letters(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Letters:
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, fresh_name("turns"), kafka=brokers)
    return Letters(settings, kafka.bootstrap)


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts, 20) as session:
        yield session


def command(letters: Letters, folder: Path) -> list[str]:
    """Return the arguments of `roma erase` for the key."""
    document = letters.settings.model_dump(
        mode="json", include={"installation", "kafka", "zookeeper"}, exclude_none=True
    )
    document["zookeeper"]["session_timeout_seconds"] = 2
    (folder / "relay.toml").write_text(tomli_w.dumps(document))
    (folder / "keys").write_bytes(KEY + b"\n")
    return ["erase", "--keys", str(folder / "keys"), "--config", str(folder / "relay.toml")]


def test_a_killed_erasure_leaves_no_setting_behind(
    letters: Letters, session: Session, tmp_path: Path
) -> None:
    asked = command(letters, tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", *asked],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        assert "1 dead letters of shop are removed." in process.stdout.readline()
        other = letters.held_open()  # the rewrite waits for its end, with the setting changed
        process.stdin.write(f"{letters.name}\n")
        process.stdin.flush()
        wait_until(lambda: letters.segment_ms == AT_ONCE, "the rewrite to begin")
        turn = letters.turn(session)
        refused = pytest.raises(
            ErasureRefused, match=r"is erasing personal data on host .* Only one erasure"
        )
        with refused, turn.held("bob"):
            pass
        assert turn.noted() == {letters.topic: OWN}
        with serving(letters.settings):
            process.kill()
            process.communicate(timeout=20)
            wait_until(lambda: letters.segment_ms == OWN, "the admin to put it back")
            wait_until(lambda: not turn.is_left(), "the note to go")
        other.abort_transaction(20)
    finally:
        process.kill()
    put_back, *_ = letters.audited()
    assert put_back == (
        "admin",
        "erasure.settings_put_back",
        {letters.topic: {"segment.ms": AT_ONCE}},
        {letters.topic: {"segment.ms": OWN}},
    )
    again = CliRunner().invoke(app, [*asked, "--yes", letters.name])
    assert again.exit_code == 0, (again.output, again.stderr)
    found = CliRunner().invoke(app, [*asked, "--preview"])
    assert (found.exit_code, letters.segment_ms) == (0, OWN), found.output


def test_of_two_erasures_the_one_whose_session_ended_deletes_nothing(
    letters: Letters, session: Session, zookeeper: ZooKeeper
) -> None:
    with session_with(zookeeper.hosts, 20) as others, ExitStack() as entered:
        lost, newer = letters.turn(session), letters.turn(others)
        rewrite = TopicRewrite(letters.settings.kafka, letters.topic, lost, DeadLettersUnreadable)

        def change(record: KeyAndValue) -> KeyAndValue:
            others.delete(lost.node)  # as ZooKeeper does when the session ends
            entered.enter_context(newer.held("bob"))
            return record

        with pytest.raises(ErasureInterrupted, match="session ended"), lost.held("ann"):
            rewrite.run(change)
        assert (letters.first, letters.segment_ms) == (0, AT_ONCE)
        newer.check()  # the older turn did not end the newer one
        assert put_back_settings(letters.settings, newer, "bob") == (letters.topic,)
        wait_until(lambda: letters.segment_ms == OWN, "the broker to show the setting")
        assert newer.noted() == {}


def test_notes_of_deleted_topics_are_dropped_and_lost_notes_are_made_good(
    letters: Letters, session: Session
) -> None:
    turn = letters.turn(session)
    with turn.held("ann"):
        turn.note(f"{letters.name}.dead-letters.deleted", "1000")
        with pytest.raises(ErasureInterrupted, match="Another process changes"):
            turn.note(f"{letters.name}.dead-letters.deleted", None)
        letters.segments.write(letters.topic, AT_ONCE)  # ZooKeeper lost the note of this one
        assert put_back_settings(letters.settings, turn, "ann") == (letters.topic,)
        wait_until(lambda: letters.segment_ms is None, "the broker to show the setting")
        assert turn.noted() == {}
        turn.note(letters.topic, "1000")
        letters.segments.write(letters.topic, OWN)  # an operator set it meanwhile
        assert put_back_settings(letters.settings, turn, "ann") == ()
        assert (letters.segment_ms, turn.noted()) == (OWN, {})
        with pytest.raises(ErasureRefused, match="This process already erases"), turn.held("bob"):
            pass
    assert not session.exists(turn.node)
    session.create_ephemeral(turn.node, b"{}")  # its deletion was lost with the connection
    with turn.held("ann"):
        turn.check()
    assert not session.exists(turn.node)


def test_an_old_plan_is_refused_also_after_a_long_pause_at_the_prompt(
    letters: Letters, session: Session
) -> None:
    needles = read_needles([KEY.decode()], [])
    erasure = PersonErasure(letters.settings, session, needles)
    plan = ErasurePlan(made_s=monotonic() - 301)
    with pytest.raises(ErasureRefused, match="more than 5 minutes ago"):
        erasure.erase(plan, Who("ann", "request 12"), ErasureChoice())
    assert letters.audited() == []
