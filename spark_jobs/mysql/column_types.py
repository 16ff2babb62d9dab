"""Types of columns between Spark and the mirror."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
    TimestampNTZType,
    TimestampType,
)

_NAMES: Final[Mapping[type[DataType], str]] = MappingProxyType(
    {
        ByteType: "TINYINT",
        ShortType: "SMALLINT",
        IntegerType: "INT",
        LongType: "BIGINT",
        FloatType: "FLOAT",
        DoubleType: "DOUBLE",
        BinaryType: "LONGBLOB",
        DateType: "DATE",
        TimestampNTZType: "DATETIME(6)",
        TimestampType: "TIMESTAMP(6)",
    }
)


def mirror_type(kind: DataType) -> str:
    """Return the server's type that holds the same values, and whose text `spark_type` reads back
    as `kind`.
    """
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _NAMES.get(type(kind), "LONGTEXT")
