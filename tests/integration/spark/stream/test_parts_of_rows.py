"""Messages that hold parts of rows: each column ends at its newest value, whatever arrives when.

What is unknown is not guessed.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.sinks import DeltaSink
from tests.support.copies.spark_copies import apply, change

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
TYPES = {"id": "int", "a": "int", "b": "date", "C": "text"}
Step = tuple[str, str, Mapping[str, str | None]]
Known = Mapping[str, Mapping[str, str | None]]


def part(kind: str, key: str, order: int, **data: str | None) -> OutboundMessage:
    types = {name: TYPES[name] for name in data}
    return change(
        "t",
        kind,
        key,
        order,
        types=types,
        fields={"pkNames": ["id"] if "id" in data else None},
        row=data,
    )


def brute_force(history: Sequence[Step]) -> Known:
    """Key → column → value of the rows that live, applied one by one as they happened."""
    rows: dict[str, dict[str, str | None]] = {}
    for kind, key, data in history:
        if kind == "DELETE":
            rows.pop(key, None)
        else:
            rows[key] = {**({} if kind == "INSERT" else rows.get(key, {})), **data}
    return rows


def drawn(seed: int) -> list[Step]:
    """A history that a table could have: updates of rows that are there, some columns at a time."""
    chance = random.Random(seed)
    alive: set[str] = set()
    history: list[Step] = []
    for number in range(60):
        key = str(chance.randrange(4))
        values = {
            "a": str(number),
            "b": chance.choice([None, "0000-00-00", f"2024-01-{number % 28 + 1:02}"]),
            "C": f"c{number}",
        }
        some = {
            name: values[name] for name in chance.sample(sorted(values), chance.randrange(1, 4))
        }
        if key not in alive:
            alive.add(key)
            history.append(("INSERT", key, {"id": key, **some}))
        elif chance.random() < 0.25:
            alive.discard(key)
            history.append(("DELETE", key, {"id": key}))
        else:
            history.append(("UPDATE", key, some))
    return history


def test_each_column_ends_at_its_newest_value(spark: SparkSession, tmp_path: Path) -> None:
    batches = 4
    history = drawn(1)
    arrived = [part(kind, key, order, **data) for order, (kind, key, data) in enumerate(history, 1)]
    random.Random(7).shuffle(arrived)
    for number in range(batches):
        apply(spark, tmp_path, *arrived[number::batches], row_images="merge", number=number)
    copy = DeltaSink(spark, tmp_path).read("shop.orders")
    assert copy is not None
    found = {}
    for row in copy.where("not _deleted").collect():
        unfit = row["_unfit"] or {}
        texts = {
            name: unfit.get(name, None if row[name] is None else str(row[name])) for name in TYPES
        }
        assert all(
            texts[name] is None for name in TYPES if name.lower() not in row["_column_orders"]
        )
        found[str(row["id"])] = {
            name: texts[name] for name in TYPES if name.lower() in row["_column_orders"]
        }
    assert found == brute_force(history)
