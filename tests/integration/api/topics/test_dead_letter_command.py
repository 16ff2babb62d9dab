"""`roma dead-letter` on a real Kafka and a real ZooKeeper: masks, and damaged records."""

import json
from pathlib import Path

import tomli_w
from confluent_kafka import Producer
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.cli import app
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.relays.kept_back import LETTER, VALUE, put_letter

MASKS = [
    {"columns": "shop_01.user.mail", "method": "hash", "salt": "sixteen characters"},
    {"columns": "shop_01.client.id", "method": "hash", "salt": "sixteen characters"},
]


def test_masked_columns_and_keys_are_not_printed_and_damage_is_named(
    zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName, tmp_path: Path
) -> None:
    name, config = fresh_name("letters-command"), tmp_path / "relay.toml"
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    source = {"host": "h", "user": "u"}
    document = {
        "installation": name,
        "zookeeper": {"hosts": zookeeper.hosts},
        "kafka": brokers,
        "instances": [
            {"name": "shop", "source": source, "masks": MASKS},
            {"name": "crm", "source": source},
        ],
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")

    def roma(command: str, *arguments: str, instance: str = "shop") -> Result:
        own = ["dead-letter", command, "--config", str(config), "--instance", instance]
        return CliRunner().invoke(app, [*own, *arguments])

    settings = KafkaSettings.model_validate(brokers)
    put_letter(settings, name, "shop", VALUE)
    plain = json.loads(VALUE)
    del plain["data"][0]["mail"]
    put_letter(settings, name, "shop", json.dumps(plain).encode(), "0002-0")
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(f"{name}.dead-letters.shop", b"no json", b"0003-0", 0)
    assert producer.flush(20) == 0

    printed = roma("show", LETTER)
    assert printed.exit_code == 0, printed.output
    metadata, row = map(json.loads, printed.stdout.splitlines())
    assert (metadata["id"], metadata["key_hidden"]) == (LETTER, False)
    columns = {each["name"]: each for each in row["columns"]}
    assert (columns["mail"]["hidden"], columns["note"]["after"]) == (True, "<b>private</b>")
    whole = json.loads(roma("show", LETTER, "--json").stdout)
    assert (whole["value"], whole["value_hidden"], len(whole["rows"])) == (None, True, 1)
    refused = roma("show", LETTER, "--value")
    assert (refused.exit_code, "VALUE_HIDDEN" in refused.output) == (1, True)
    for told in (printed.output, json.dumps(whole), refused.output):
        assert "a@b.c" not in told

    assert json.loads(roma("show", "0002-0", "--value").stdout) == plain
    listed = [json.loads(line) for line in roma("list", "--json").stdout.splitlines()]
    assert [each.get("damaged", False) for each in listed] == [False, False, True]
    assert (listed[2]["id"], listed[2]["record_offset"]) == ("0003-0", 2)
    assert listed[1]["key"] is not None
    assert "offset 2  DEAD_LETTER_DAMAGED  0003-0" in roma("list").stdout

    put_letter(settings, name, "crm", VALUE)
    hidden = json.loads(roma("show", LETTER, "--json", instance="crm").stdout)
    assert hidden["value_hidden"] is True, "a mask of another instance counts, too"
