"""Chooses column types for the mirror, the MySQL or MariaDB server of the copies."""

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
    """Return the server's column type that can store all values of a Spark type.

    `spark_type` converts the result back to `kind`.
    """
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _NAMES.get(type(kind), "LONGTEXT")
