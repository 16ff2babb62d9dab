"""The cache of row shapes, which the threads of a batch share."""

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import StructType

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.sinks.delta_lake.row_shapes import RowShapes

COPY: Any = SimpleNamespace(
    transaction=SimpleNamespace(
        metadata=lambda: SimpleNamespace(schemaString=lambda: StructType().json())
    )
)
CHANGES: Any = SimpleNamespace(versions=(), style="mysql")


class Emptied(dict[Any, Any]):
    """A dictionary that another thread empties after each new entry."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.clear()


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> RowShapes:
    made = iter(["first", None, "third"])
    monkeypatch.setattr(RowShapes, "_made", lambda *_: next(made))
    return RowShapes(SchemaPolicy())


def test_a_shape_is_made_once(shapes: RowShapes) -> None:
    assert [shapes.of(CHANGES, StructType(), COPY) for _ in range(2)] == ["first", "first"]


def test_a_shape_is_returned_although_another_thread_empties_the_cache(
    shapes: RowShapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "_known", Emptied())
    found = [shapes.of(CHANGES, StructType(), COPY) for _ in range(2)]
    assert found == ["first", None]
