"""A person is erased: the bytes are gone from the files of a real broker and of the claim store."""

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import tomli_w
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditEntry, AuditTrail
from relay.claim_check import ClaimStore
from relay.cli import app
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.envelope.claim import claim_text
from relay.model.message import OutboundMessage
from relay.model.records.topic_partitioning import (
    Feeder,
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
)
from relay.model.table import TableId
from relay.settings import ClaimSettings, RelaySettings, load_settings
from relay.state import InstanceStatus, InstanceStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

MARKER: Final = "Jane-Roe-4711"
KEY: Final = b'["shop.client","7"]'
OTHER: Final = b'["shop.client","8"]'
VALUE: Final = f'{{"data":[{{"id":"7","name":"{MARKER}"}}]}}'.encode()
OF_ANOTHER: Final = f'{{"data":[{{"id":"8","name":"Mary-{MARKER}"}}]}}'.encode()
"""A row of another person, whose name contains the text."""
QUICK: Final = {
    "log.initial.task.delay.ms": 200,
    "log.retention.check.interval.ms": 500,
    "log.segment.delete.delay.ms": 200,
    "log.cleaner.backoff.ms": 200,
}
COMPACTED: Final = {"cleanup.policy": "compact"}
SOON: Final = {
    "max.compaction.lag.ms": "500",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "0",
    "file.delete.delay.ms": "200",
}
SHORT: Final = {"retention.ms": "-1", "file.delete.delay.ms": "200"}


class Installation:
    """Stores of one installation that hold the marker beside rows of somebody else."""

    def __init__(self, kafka: Kafka, settings: RelaySettings, folder: Path) -> None:
        self.kafka, self.settings, self.name = kafka, settings, settings.installation
        self.trail = AuditTrail(settings.kafka, self.name)
        self.letters = DeadLetterTopic(settings.kafka, self.name, "shop")
        self.letters_of_removed = DeadLetterTopic(settings.kafka, self.name, "gone")
        self.claims_folder = folder / "claims"
        self.claims = ClaimStore(ClaimSettings(url=str(self.claims_folder)), self.name, "shop")
        self.producer = Producer({"bootstrap.servers": kafka.bootstrap})
        self.file = folder / "relay.toml"
        document = settings.model_dump(
            mode="json", include={"installation", "kafka", "zookeeper"}, exclude_none=True
        )
        shop = {
            "name": "shop",
            "source": {"host": "h", "user": "u"},
            "claims": {"url": str(self.claims_folder)},
        }
        self.file.write_text(tomli_w.dumps({**document, "instances": [shop]}))
        (folder / "keys").write_bytes(KEY + b"\n")
        (folder / "texts").write_text(f"{MARKER}\n")
        self.folder = folder

    def fill(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.kafka.bootstrap})
        xa = f"{self.name}.xa.shop"
        made = admin.create_topics(
            [
                NewTopic("people", 2, 1, config=COMPACTED),
                NewTopic("plain", 1, 1, config=SHORT),
                NewTopic(xa, 1, 1, config=COMPACTED),
            ]
        )
        for each in made.values():
            each.result(60)
        claim = self.claims.put(TableId("shop", "client"), 5, VALUE * 3)
        self.claims.put(TableId("shop", "client"), 6, b'{"data":[{"id":"8"}]}')
        header: dict[str, str | bytes | None] = {"claim": claim_text(claim)}
        kept = self.claims.put(TableId("shop", "client"), 7, VALUE * 4)
        self.claims.put(TableId("shop", "client"), 9, OF_ANOTHER)
        of_plain: dict[str, str | bytes | None] = {"claim": claim_text(kept)}
        for topic in ("people", "plain"):
            self.send(topic, OTHER, b"before")
            self.send(topic, KEY, VALUE, of_plain if topic == "plain" else None)
            self.send(topic, OTHER, b"after")
        self.send("people", KEY, b"{}", header)
        self.send("plain", None, f"INSERT INTO t VALUES ('{MARKER}')".encode())
        self.send(xa, b"xid-1", b"row image with " + MARKER.encode())
        self._aborted()
        self.letters.ensure()
        self.trail.append(AuditEntry("ann", "position.set", "shop", comment="before"))
        self.trail.append(AuditEntry("ann", "instance.saved", "shop", {"filter": MARKER}))
        self.trail.append(AuditEntry("ann", "position.set", "shop", comment="after"))
        self.letters_of_removed.ensure()
        for number, (letters, key, value) in enumerate(
            (
                (self.letters, KEY, VALUE),
                (self.letters, OTHER, b"of somebody else"),
                (self.letters, OTHER, OF_ANOTHER),
                (self.letters_of_removed, KEY, VALUE),
            )
        ):
            for message in letters.messages(_letter(number, key, value), 1_000_000):
                self.send(message.topic, message.key, message.value)

    def _aborted(self) -> None:
        """A batch that was aborted: no reader sees it, and its bytes are in the topic."""
        producer = Producer(
            {"bootstrap.servers": self.kafka.bootstrap, "transactional.id": f"{self.name}.x"}
        )
        producer.init_transactions(20)
        producer.begin_transaction()
        producer.produce("people", VALUE, KEY, 0)
        producer.flush(20)
        producer.abort_transaction(20)

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: dict[str, str | bytes | None] | None = None,
    ) -> None:
        self.producer.produce(topic, value, key, 0, headers=headers or {})
        assert self.producer.flush(20) == 0

    def compact_soon(self, topic: str) -> None:
        """Do what the preview asks for: set the bound of time, and what makes it short."""
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in SOON.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        admin = AdminClient({"bootstrap.servers": self.kafka.bootstrap})
        admin.incremental_alter_configs([resource])[resource].result(60)

    def roma(self, *arguments: str) -> Result:
        given = ["--keys", str(self.folder / "keys"), "--texts", str(self.folder / "texts")]
        return CliRunner().invoke(
            app, ["erase", *given, "--topic", "plain", *arguments, "--config", str(self.file)]
        )

    def positions_of_values(self) -> list[int]:
        """Return the execute positions of the values in the claim store."""
        files = self.claims_folder.rglob("*.json")
        return sorted(int(each.name.partition("-")[0]) for each in files)

    def holders(self) -> set[str]:
        """Return the folders of the broker and of the claim store that hold the marker."""
        files = [*(self.kafka.folder / "data").rglob("*"), *self.claims_folder.rglob("*")]
        return {each.parent.name for each in files if _holds(each)}


def _holds(file: Path) -> bool:
    try:
        return file.is_file() and MARKER.encode() in file.read_bytes()
    except FileNotFoundError:
        return False  # the broker removed it meanwhile


def _letter(number: int, key: bytes, value: bytes) -> DeadLetter:
    message = OutboundMessage("people", 0, key, value, ())
    return DeadLetter(
        id=f"000{number}-0",
        code="MESSAGE_TOO_LARGE",
        reason="too large.",
        real="shop_01.user",
        logical="shop.client",
        file="b.000007",
        offset=4711,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=message,
        value_bytes=len(value),
    )


@pytest.fixture
def installation(
    new_kafka: Callable[..., Kafka],
    zookeeper: ZooKeeper,
    fresh_name: FreshName,
    tmp_path: Path,
) -> Iterator[Installation]:
    kafka = new_kafka(QUICK)
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, fresh_name("erase"), kafka=brokers)
    installation = Installation(kafka, settings, tmp_path)
    installation.fill()
    with session_with(zookeeper.hosts) as session:
        store = InstanceStore(session, Paths.of(settings.zookeeper, settings.installation))
        feeder = Feeder(TopicPartitioning(2, PartitioningRules("", False, "logical")), joined=True)
        store.topics.change("people", lambda _: TopicAgreement({"shop": feeder}))
        store.put_status(InstanceStatus("shop", "RUNNING", relay="r1", spool_bytes=5))
        yield installation


def erased_by_page(installation: Installation) -> None:
    """Erase what is of the keys by the page, after a search by REST."""
    settings = load_settings(installation.file)
    api = settings.api.model_copy(update={"port": 0, "token": SecretStr(TOKEN)})
    with admin_client(settings.model_copy(update={"api": api})) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to be ready")
        wish = {"keys": [KEY.decode()], "texts": [MARKER], "topics": ["plain"]}
        number = admin.post("/api/v1/erasures", json=wish).json()["number"]

        def state(wanted: str) -> dict[str, Any]:
            def reached() -> bool:
                found = admin.get(f"/api/v1/erasures/{number}").json()
                assert found["state"] in ("looking", "erasing", wanted), found
                return bool(found["state"] == wanted)

            wait_until(reached, f"the search to be {wanted}")
            found: dict[str, Any] = admin.get(f"/api/v1/erasures/{number}").json()
            return found

        sentences = state("found")["sentences"]
        assert "1 dead letters of shop are removed." in sentences
        named = {"confirm": installation.name}
        refused = admin.post(
            f"/api/v1/erasures/{number}/erase", json={"confirm": installation.name[:-1]}
        )
        assert refused.status_code == 400, refused.text
        page = admin.get(f"/erase?number={number}")
        assert "1 dead letters of shop are removed." in html.unescape(page.text)
        assert MARKER not in page.text
        asked = {**named, "comment": "request 12"}
        done = admin.post(f"/erase/{number}/erase", data=asked)
        assert done.status_code == 303, done.text
        assert state("erased")["code"] == ""
        assert admin.delete(f"/api/v1/erasures/{number}").status_code == 204
        assert admin.get(f"/api/v1/erasures/{number}").status_code == 404


def test_the_bytes_of_a_person_are_gone_from_every_store(
    installation: Installation, zookeeper: ZooKeeper
) -> None:
    name = installation.name
    letters = {f"{name}.dead-letters.{each}-0" for each in ("shop", "gone")}
    data = {"people-0", "plain-0", f"{name}.audit-0", *letters}
    assert installation.holders() == {*data, f"{name}.xa.shop-0", "shop.client"}

    found = installation.roma("--preview")
    assert found.exit_code == 1, found.output
    for sentence in (
        "people: 3 records; 1 tombstones are written. Kafka compacts without a time limit",
        "plain: 1 records stay, because the topic is not compacted.",
        "plain: 1 records with another key, or without a key, contain a key or text.",
        "1 dead letters of shop are removed.",
        "1 dead letters of gone are removed.",
        "1 values outside of Kafka of shop are deleted.",
        "1 values outside of Kafka of shop stay with the records that point to them.",
        "In these only a text was found, no key. They stay; --by-text erases all of them:",
        "  dead letter 0002-0 of shop",
        "shop.client/0000000000000000009-",
        "  audit entry ",
        "gone is not defined any more. Its dead letters are read.",
        f"{name}.xa.shop is a topic of the relay, and 1 of its records contain a key or text.",
    ):
        assert sentence in found.output, found.output
    assert MARKER not in found.output

    of_keys = ("--yes", name, "--comment", "request 12")
    sure = (*of_keys, "--delete-records", "--by-text")
    refused = installation.roma(*sure)
    assert refused.exit_code == 1
    assert "ERASURE_REFUSED: The spool of shop has 5 bytes" in refused.stderr
    with session_with(zookeeper.hosts) as session:
        store = InstanceStore(session, Paths.of(installation.settings.zookeeper, name))
        store.put_status(InstanceStatus("shop", "RUNNING", relay="r1"))
    named = installation.roma("--yes", name, "--comment", f"for {MARKER}")
    assert "ERASURE_REFUSED: The comment or the actor contains" in named.stderr
    erased_by_page(installation)
    assert [each.letter.id for each in installation.letters.letters().letters] == [
        "0001-0",
        "0002-0",
    ]
    assert installation.letters_of_removed.letters() == ([], [])
    assert installation.positions_of_values() == [6, 7, 9]
    done = installation.roma(*sure)
    assert done.exit_code == 0, (done.output, done.stderr, done.exception)

    for topic in ("people", f"{name}.xa.shop"):
        installation.compact_soon(topic)
    installation.send(f"{name}.xa.shop", b"xid-1", None)  # the source ended the transaction

    def gone() -> bool:
        for topic in ("people", f"{name}.xa.shop"):  # what relays publish rolls the segments
            installation.send(topic, b'["shop.client","9"]', b"later")
        return installation.holders() <= {"plain-0"}

    wait_until(gone, "Kafka to compact and to delete segments", seconds=120)
    # a record without a key is beside the keys: DeleteRecords reached up to the last one of them
    assert installation.roma("--preview").output == (
        "plain: 1 records with another key, or without a key, contain a key or text. They "
        "stay.\ngone is not defined any more. Its dead letters are read. If it had claims.url, "
        "search that store yourself.\n"
    )
    verdict = installation.trail.verify()
    assert (verdict.problems, verdict.erased, verdict.entries) == ((), 1, 5)
    newest = installation.trail.entries(10)
    assert [(each.act, each.comment) for each in newest] == [
        ("person.erased", "request 12"),
        ("person.erased", "request 12"),
        ("position.set", "after"),
        ("instance.saved", ""),
        ("position.set", "before"),
    ]
    (left,) = installation.letters.letters().letters
    assert left.letter.message.key == OTHER
    assert installation.positions_of_values() == [6]
