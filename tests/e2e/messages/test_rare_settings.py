"""Settings that few installations use, each from the source to what a consumer reads: keys by
shard, a message for each tag, real names, Canal's way with changed keys, and rules of several
columns without the database.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

PARTITIONS: Final = 8
SETTINGS: Final[Mapping[str, dict[str, Any]]] = {
    "shard": {"routing": {"key_scope": "shard"}},
    "tags": {"message": {"field_tags": "separate"}},
    "real": {"routing": {"names": "real"}},
    "canal": {"message": {"key_change": "canal", "value_style": "canal"}},
    "rules": {"partition": {"partition_hash": r".*\..*:region^n", "database_hash": False}},
}


def add_instances(installation: Installation) -> dict[str, str]:
    """Let an instance run with each of the settings, on two shards of its own.

    Returns their logical databases, which are their topics.
    """
    (first,) = installation.document["instances"]
    logical = {each: f"{installation.name}_{each}" for each in SETTINGS}
    installation.document["instances"] = [
        {
            **first,
            **settings,
            "name": each,
            "source": {**first["source"], "server_id": first["source"]["server_id"] + number},
            "filter": {"filter_regex": f"{logical[each]}_[12]\\..*"},
            "partition": {"partitions_num": PARTITIONS, **settings.get("partition", {})},
        }
        for number, (each, settings) in enumerate(SETTINGS.items(), 1)
    ]
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    installation.map(
        topics=[{"logicDb": each, "topic": each} for each in logical.values()],
        dbs=[{"logicDb": each, "realDbs": f"{each}_1,{each}_2"} for each in logical.values()],
        tags=[{"logicTb": "t,n", "tag": "t,of-n"}],
    )
    return logical


def changes(shard: str, region: str) -> tuple[str, ...]:
    """Rows of one key in both shards, one of which moves to another key and another is deleted."""
    return (
        f"insert into {shard}.t values (1, 1, '{region}'), (2, 2, '{region}')",
        f"update {shard}.t set n = 7 where id = 1",
        f"update {shard}.t set id = 10 where id = 1",
        f"delete from {shard}.t where id = 2",
    )


@pytest.fixture
def seen(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> tuple[dict[str, str], dict[str, list[Seen]]]:
    """The logical databases by setting, and what is in their topics, in the order of the pairs."""
    installation = new_installation(mariadb, kafka)
    logical = add_instances(installation)
    shards = [
        (f"{each}_{number}", region)
        for each in logical.values()
        for number, region in ((1, "north"), (2, "south"))
    ]
    make(mariadb, [shard for shard, _ in shards])
    with RelayProcess(installation):
        wait_until(
            lambda: (
                {each.name for each in installation.statuses() if each.state == "RUNNING"}
                >= set(SETTINGS)
            ),
            "all instances",
        )
        for shard, region in shards:
            mariadb.execute(*changes(shard, region))
        mariadb.execute(
            *(f"insert into {each}_2.t values (99, 99, 'end')" for each in logical.values())
        )
        read: dict[str, list[Seen]] = {}
        for setting, topic in logical.items():
            wait_until(partial(is_ended, kafka, topic), f"the end of {topic}")
            read[setting] = sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    return logical, read


def is_ended(kafka: Kafka, topic: str) -> bool:
    return any(b'"99"' in (each.key or b"") for each in read_topic(kafka.bootstrap, topic))


def make(server: SqlServer, shards: list[str]) -> None:
    for shard in shards:
        server.execute(
            f"create database {shard}",
            f"create table {shard}.t (id int primary key, n int, region varchar(9))",
        )


def partition(*texts: str) -> int:
    """Where rules of these columns place a row: Java's String.hashCode of each, by XOR."""
    whole = 0
    for text in texts:
        code = 0
        for letter in text:
            code = (31 * code + ord(letter)) & 0xFFFFFFFF
        whole ^= code
    return abs(whole - (1 << 32) if whole >> 31 else whole) % PARTITIONS


def values(messages: list[Seen]) -> list[dict[str, Any]]:
    return [each.value for each in messages if each.value is not None]


def test_what_few_installations_set_holds_from_the_source_to_the_consumer(
    seen: tuple[dict[str, str], dict[str, list[Seen]]],
) -> None:
    logical, read = seen
    by_shard = Counter(str(each.key) for each in read["shard"])
    table = f"{logical['shard']}.t"
    assert by_shard[f'b\'["{table}","{logical["shard"]}_1.t","1"]\''] == 3, (
        by_shard
    )  # inserted, updated, moved away
    assert by_shard[f'b\'["{table}","{logical["shard"]}_2.t","2"]\''] == 2

    tagged = Counter(each.tags for each in read["tags"])
    assert set(tagged) == {("t",), ("of-n",)}
    rows = {(each.order, each.tags) for each in read["tags"]}
    assert len(rows) == len(read["tags"]), "a message came twice under one tag"
    moves = [each for each in values(read["tags"]) if each["type"] == "UPDATE"]
    assert [each["data"][0]["n"] for each in moves] == ["7"] * 4, "both tags of both updates of n"

    assert {each["database"] for each in values(read["real"])} == {
        f"{logical['real']}_1",
        f"{logical['real']}_2",
    }
    assert str(read["real"][0].key) == f'b\'["{logical["real"]}_1.t","1"]\''

    kinds = Counter(each["type"] for each in values(read["canal"]))
    assert kinds == {"INSERT": 5, "UPDATE": 4, "DELETE": 2}, "a moved key is one UPDATE"
    (moved, _) = [
        each
        for each in values(read["canal"])
        if each["type"] == "UPDATE" and "id" in each["old"][0]
    ]
    assert (moved["old"][0]["id"], moved["data"][0]["id"]) == ("1", "10")

    for each in read["rules"]:
        assert each.value is not None
        (row,) = each.value["data"]
        assert each.partition == partition(row["region"], row["n"]), each
    assert len({each.partition for each in read["rules"]}) > 1
