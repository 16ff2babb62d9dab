"""Code that Spark generates for a batch is compiled once for the life of a job."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.spark_util.jvm import java_class
from tests.support.copies.spark_copies import apply, change

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
_GENERATING = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
}
_TYPES = {
    "orders": {"id": "bigint", "n": "int", "at": "datetime(6)"},
    "users": {"id": "varchar(9)", "n": "bigint", "price": "decimal(12,2)"},
}


@pytest.fixture(name="generating")
def generating_session(spark: SparkSession) -> Iterator[SparkSession]:
    """The tests' session, with the generated code that jobs of operators use."""
    before = {name: str(spark.conf.get(name)) for name in _GENERATING}
    for name, value in _GENERATING.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def compiled_classes(spark: SparkSession) -> int:
    """Return how many times Spark compiled generated code so far."""
    metrics = java_class(spark, "org.apache.spark.metrics.source.CodegenMetrics")
    return int(metrics.METRIC_COMPILATION_TIME().getCount())


def test_a_later_batch_uses_the_code_that_was_compiled_for_earlier_ones(
    generating: SparkSession, tmp_path: Path
) -> None:
    counts = [compiled_classes(generating)]
    for order in (1, 2, 3):
        row = {"id": "1", "n": str(order)}
        messages = (
            change("t", "UPDATE", "1", order, table=table, types=types, row=row)
            for table, types in _TYPES.items()
        )
        apply(generating, tmp_path, *messages, number=order)
        counts.append(compiled_classes(generating))
    made, merged, merged_again = (later - earlier for earlier, later in pairwise(counts))
    assert made + merged > 50, "the first batches compile what all batches need"
    assert merged_again <= 5
