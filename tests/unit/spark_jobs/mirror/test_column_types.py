"""The mirror's types hold what Spark's do, and are read back as the same."""

import pytest
from pyspark.sql.types import (
    BinaryType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from spark_jobs.mysql.column_types import mirror_type
from spark_jobs.transforms import spark_type

KINDS: list[DataType] = [
    BinaryType(), ByteType(), DateType(), DecimalType(20, 0), DecimalType(38, 10), DoubleType(),
    FloatType(), IntegerType(), LongType(),
    ShortType(), StringType(), TimestampNTZType(), TimestampType(),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.simpleString())
def test_a_type_comes_back(kind: DataType) -> None:
    assert spark_type(mirror_type(kind).lower()) == kind
