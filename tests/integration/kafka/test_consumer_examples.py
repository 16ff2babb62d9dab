"""The consumers in other languages keep the newest row of each key: they read past rows of aborted
transactions, older changes, other tables, statements and tombstones.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer

from deploy.embedded import Kafka
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.jvm import QUICK_START
from relay.envelope import MovedMarker, order_text
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.waiting import wait_until

_EXAMPLES = Path(__file__).parents[3] / "examples" / "consumers"
_GO = shutil.which("go", path=f"{os.environ.get('PATH', '')}:/usr/local/go/bin")
TABLE = "shop.orders"


def java_example(folder: Path) -> list[str]:
    """Compile the example in Java; return its command. Skips the test without a JDK."""
    java = find_java()
    javac = java.home / "bin" / "javac"
    if not javac.exists():
        pytest.skip(f"no javac in {javac.parent}: this is a JRE")
    path = os.pathsep.join(str(jar) for jar in jars("kafka").iterdir())
    source = _EXAMPLES / "java" / "Orders.java"
    quickly = [f"-J{option}" for option in QUICK_START]
    checks = ["-Xlint:all,-path,-classfile", "-Werror", "-proc:none"]
    compile_it = [str(javac), *quickly, *checks, "-cp", path]
    subprocess.run([*compile_it, "-d", str(folder), str(source)], check=True, timeout=120)
    return [str(java.binary), *QUICK_START, "-cp", f"{folder}{os.pathsep}{path}", "Orders"]


def go_example(folder: Path) -> list[str]:
    """Compile the example in Go; return its command. Skips the test without Go."""
    if _GO is None:
        pytest.skip("no Go, which the example is compiled with")
    program = folder / "orders"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    for command in (["vet", "."], ["build", "-o", str(program), "."]):
        subprocess.run(
            [_GO, *command], cwd=_EXAMPLES / "go", env=environment, check=True, timeout=240
        )
    return [str(program)]


@contextmanager
def running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as output, subprocess.Popen(command, stdout=output) as process:
        try:
            yield
        finally:
            process.kill()


def message(
    topic: str, key: str, position: int, kind: str = "UPDATE", table: str = TABLE, note: str = ""
) -> dict[str, Any]:
    """A record as the relay publishes it: one change of the row with this key."""
    database, _, name = table.partition(".")
    value = {
        "data": [{"id": key, "note": note or str(position)}],
        "database": database,
        "isDdl": kind == "ALTER",
        "table": name,
        "type": kind,
    }
    return {
        "topic": topic,
        "key": orjson.dumps([table, key]),
        "value": orjson.dumps(value),
        "headers": [("order", order_text(1, position).encode()), ("tag", b"orders")],
    }


def moved(topic: str) -> dict[str, Any]:
    """The marker of a table that moves to another topic."""
    marker = MovedMarker("shop", topic, ("other",), 2, "shop", ("shop",))
    return {"key": marker.key(), "value": None, "headers": [("moved", marker.header())]}


def publish(kafka: Kafka, topic: str) -> None:
    """Rows in three transactions, of which the second is aborted."""
    TopicAdmin(KafkaSettings(bootstrap_servers=kafka.bootstrap)).create(TopicSpec(topic, 2, 1, {}))
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    transactions: list[tuple[bool, list[dict[str, Any]]]] = [
        (
            True,
            [
                message(topic, "1", 1, "INSERT"),
                message(topic, "2", 2, "INSERT"),
                message(topic, "1", 5),
                message(topic, "1", 3, note="older"),
                message(topic, "9", 6, table="shop.clients", note="other table"),
                message(topic, "9", 7, "ALTER", note="statement"),
            ],
        ),
        (False, [message(topic, "1", 8, note="aborted")]),
        (
            True,
            [
                message(topic, "2", 9, "DELETE"),
                message(topic, "2", 9) | {"value": None},
                {"topic": topic, **moved(topic)},
                message(topic, "1", 10, note="last"),
            ],
        ),
    ]
    for commits, records in transactions:
        producer.begin_transaction()
        for record in records:
            producer.produce(**record)
        producer.flush(30)
        if commits:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)


def packed(topic: str, position: int, ids: str, *, kind: str = "INSERT", names: bool = True) -> Any:
    """A record of one row for each letter, as `rows_per_message = "event"` packs them."""
    made = message(topic, "", position, kind)
    value = orjson.loads(made["value"]) | {
        "data": [{"id": f"<{each}é>", "note": f"{kind}-{position}"} for each in ids],
        "pkNames": ["id"] if names else None,
    }
    return made | {"key": None, "value": orjson.dumps(value)}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("example", [java_example, go_example])
def test_an_example_reads_all_rows_of_packed_messages_and_of_tables_without_a_key(
    kafka: Kafka, fresh_name: FreshName, tmp_path: Path, example: Callable[[Path], list[str]]
) -> None:
    topic = fresh_name("packed")
    TopicAdmin(KafkaSettings(bootstrap_servers=kafka.bootstrap)).create(TopicSpec(topic, 1, 1, {}))
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for record in (
        packed(topic, 10, "abc"),
        packed(topic, 5, "ab"),  # older
        packed(topic, 20, "ab", kind="UPDATE"),
        packed(topic, 30, "b", kind="DELETE"),
        packed(topic, 9, "xy", names=False),
        packed(topic, 8, "xz", names=False),  # of an instance with its own order
        message(topic, "<cé>", 40, note="last"),
    ):
        producer.produce(**record)
    producer.flush(30)
    log = tmp_path / "output"
    with running([*example(tmp_path), kafka.bootstrap, topic, TABLE], log):
        wait_until(lambda: '"last"' in log.read_text("utf-8"), "the last row")
    lines = log.read_text("utf-8").splitlines()
    keyed = [each.split(" ", 1) for each in lines if each.startswith("[")]
    assert [key for key, _ in keyed] == [f'["shop.orders","<{each}é>"]' for each in "abcabbc"]
    assert dict(keyed)['["shop.orders","<bé>"]'] == "deleted"
    assert orjson.loads(dict(keyed)['["shop.orders","<aé>"]'])["note"] == "UPDATE-20"
    others = [orjson.loads(each[each.index("{") :]) for each in lines if not each.startswith("[")]
    assert [each["id"] for each in others] == ["<xé>", "<yé>", "<xé>", "<zé>"]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("example", [java_example, go_example])
def test_an_example_keeps_the_newest_row_of_each_key(
    kafka: Kafka, fresh_name: FreshName, tmp_path: Path, example: Callable[[Path], list[str]]
) -> None:
    topic = fresh_name("orders")
    publish(kafka, topic)
    log = tmp_path / "output"
    with running([*example(tmp_path), kafka.bootstrap, topic, TABLE], log):
        wait_until(
            lambda: all(each in log.read_text("utf-8") for each in ('"last"', "deleted")),
            "both rows",
        )
    lines = log.read_text("utf-8").splitlines()
    newest = dict(line.split(" ", 1) for line in lines)
    assert set(newest) == {'["shop.orders","1"]', '["shop.orders","2"]'}
    assert orjson.loads(newest['["shop.orders","1"]']) == {"id": "1", "note": "last"}
    assert newest['["shop.orders","2"]'] == "deleted"
    assert not any(word in line for line in lines for word in ("older", "aborted", "other"))


def test_the_page_shows_the_examples_that_run() -> None:
    page = (_EXAMPLES.parents[1] / "docs" / "howto" / "consume-a-topic.md").read_text("utf-8")
    for source in ("java/Orders.java", "go/main.go"):
        assert (_EXAMPLES / source).read_text("utf-8") in page
