"""The stream goes on past rows that are too large, and nothing of them is lost: on real servers."""

from pathlib import Path
from typing import Any

import fsspec
import orjson
import tomli_w
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from pydantic import SecretStr
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.dead_letters import DeadLetterTopic
from relay.envelope import checked_claim, parse_claim
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import ApiSettings, KafkaSettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

TOPIC_SETTINGS = {"retention.ms": "-1"}


def ids(kafka: Kafka, topic: str) -> list[int]:
    """The ids of all rows that a committed reader sees, in the order of the pair."""
    rows = [
        each
        for each in read_topic(kafka.bootstrap, topic)
        if each.value is not None and each.value["data"] is not None
    ]
    return [
        int((each.value or {})["data"][0]["id"])
        for each in sorted(rows, key=lambda each: each.order)
    ]


def seen(kafka: Kafka, topic: str) -> list[Seen]:
    """Everything in the topic, once it is there."""
    there = TopicAdmin(KafkaSettings(bootstrap_servers=kafka.bootstrap)).state(topic) is not None
    return read_topic(kafka.bootstrap, topic) if there else []


def take_at_most(kafka: Kafka, topic: str, size_bytes: int) -> None:
    """Set max.message.bytes of a topic, while it is in use."""
    entry = ConfigEntry(
        "max.message.bytes", str(size_bytes), incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(60)


def roma(installation: Installation, *arguments: str, **answers: Any) -> str:
    """What the command says; the test fails where it fails."""
    command, *rest = arguments
    result = CliRunner().invoke(
        app,
        ["dead-letter", command, "--config", str(installation.file), "--instance", "shop", *rest],
        **answers,
    )
    assert result.exit_code == 0, result.output
    return result.output


def test_a_row_too_large_waits_as_a_dead_letter_until_it_is_sent(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, oversize="dead_letter")
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'fits'), (2, 1, repeat('x', 2500000)), (3, 1, "
            f"'fits')"
        )
        mariadb.execute(f"insert into {name}.t values (4, 1, 'fits')")
        wait_until(
            lambda: bool(seen(kafka, name)) and ids(kafka, name) == [1, 3, 4], "the rows beside it"
        )
        wait_until(
            lambda: relay.wait_for("RUNNING").dead_letters == 1, "the status of one dead letter"
        )
    (marker,) = read_topic(kafka.bootstrap, f"{name}.ddl")
    assert marker.key == f'["{name}.t","2"]'.encode()
    (listed,) = (orjson.loads(line) for line in roma(installation, "list", "--json").splitlines())
    assert (listed["code"], listed["real"], listed["topic"], listed["replayed"]) == (
        "MESSAGE_TOO_LARGE",
        f"{name}.t",
        name,
        None,
    )
    with admin_client(
        installation.settings.model_copy(
            update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
        )
    ) as admin:
        (viewed,) = admin.get("/api/v1/instances/shop/dead-letters").json()
        value = admin.get(f"/api/v1/instances/shop/dead-letters/{listed['id']}/value").json()
        missing = admin.get("/api/v1/instances/shop/dead-letters/1-1")
    assert (viewed["id"], viewed["key"], missing.status_code) == (
        listed["id"],
        f'["{name}.t","2"]',
        404,
    )
    assert value["data"] == [{"id": "2", "n": "1", "v": "x" * 2_500_000}]
    refused = CliRunner().invoke(
        app,
        [
            "dead-letter",
            "replay",
            "--config",
            str(installation.file),
            "--instance",
            "shop",
            listed["id"],
            "--yes",
            "shop",
        ],
    )
    assert (refused.exit_code, "MESSAGE_TOO_LARGE" in refused.output) == (1, True)

    take_at_most(kafka, name, 4_000_000)
    installation.document["kafka"]["message_max_bytes"] = 4_000_000
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    assert "was sent to" in roma(installation, "replay", listed["id"], input="shop\n")
    wait_until(  # a commit is answered before the marker is in each partition
        lambda: ids(kafka, name) == [1, 2, 3, 4], "the row in its own place of the order"
    )
    assert "sent again by" in roma(installation, "list")
    again = CliRunner().invoke(
        app,
        [
            "dead-letter",
            "replay",
            "--config",
            str(installation.file),
            "--instance",
            "shop",
            listed["id"],
            "--yes",
            "shop",
        ],
    )
    assert (again.exit_code, "REPLAY_REFUSED" in again.output) == (1, True)
    assert (
        "dead-letter.replay"
        in CliRunner().invoke(app, ["audit", "--config", str(installation.file)]).output
    )


def test_a_topic_that_takes_less_than_before_is_asked_again(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, oversize="dead_letter")
    name = installation.name
    TopicAdmin(installation.settings.kafka).create(TopicSpec(name, 4, 1, TOPIC_SETTINGS))
    noise = (
        f"(select group_concat(md5(concat(seq, rand())) separator '') from {name}.seq_1_to_10000)"
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'fits')")
        wait_until(lambda: ids(kafka, name) == [1], "the first row")
        take_at_most(kafka, name, 100_000)
        mariadb.execute(
            f"insert into {name}.t values (2, 1, 'fits')",
            "set group_concat_max_len = 10000000",
            f"insert into {name}.t select 3, 1, {noise}",
            f"insert into {name}.t select seq, 1, md5(rand()) from {name}.seq_4_to_3003",
        )
        wait_until(lambda: len(ids(kafka, name)) == 3002, "the rows beside it")
        status = relay.wait_for("RUNNING")
    assert ids(kafka, name) == [1, 2, *range(4, 3004)]
    (listed,) = DeadLetterTopic(installation.settings.kafka, name, "shop").letters().letters
    assert (listed.letter.code, listed.letter.message.key) == (
        "MESSAGE_TOO_LARGE",
        f'["{name}.t","3"]'.encode(),
    )
    assert status.code == ""


def test_a_value_too_large_is_claimed(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    folder = tmp_path / "claims"
    installation = new_installation(
        mariadb, kafka, oversize="claim_check", claims={"url": str(folder)}
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'fits'), (2, 1, repeat('x', 2500000))")
        mariadb.execute(
            f"update {name}.t set n = 2 where id = 2", f"delete from {name}.t where id = 1"
        )
        wait_until(lambda: len(seen(kafka, name)) == 4, "four messages")
        wait_until(lambda: relay.wait_for("RUNNING").claims == 2, "the status of two claims")
    first, inserted, updated, deleted = sorted(seen(kafka, name), key=lambda each: each.order)
    assert [first.claim, deleted.claim] == [None, None]
    for each, kind, number in ((inserted, "INSERT", "1"), (updated, "UPDATE", "2")):
        assert each.key == f'["{name}.t","2"]'.encode()
        assert each.value is not None
        assert (each.value["type"], each.value["data"], each.value["table"]) == (kind, None, "t")
        claim = parse_claim(each.claim or "")
        files, path = fsspec.url_to_fs(claim.url)
        value = orjson.loads(checked_claim(claim, files.cat_file(path)))
        assert value["data"] == [{"id": "2", "n": number, "v": "x" * 2_500_000}]
