"""Changes for HBase copies, and the cells of an HBase table."""

from collections.abc import Mapping
from typing import Final, TypeAlias

import orjson
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from relay.envelope import order_text
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import Gateway, rows_of

SHAPE: Final = "table string, key string, order string, deleted boolean, data map<string,string>"
TABLE: Final = "shop.orders"
Row: TypeAlias = tuple[str, str, str, bool, dict[str, str | None]]

_keys = st.lists(st.text(max_size=6), min_size=1, max_size=3).map(
    lambda values: orjson.dumps([TABLE, *values]).decode()
)
_columns = st.dictionaries(
    st.text(min_size=1, max_size=5), st.none() | st.text(max_size=10), max_size=4
)
_orders = st.builds(order_text, st.integers(0, 2**41), st.integers(0, 2**62))
rows: Final = st.tuples(st.just(TABLE), _keys, _orders, st.booleans(), _columns)


def one_row(spark: SparkSession) -> DataFrame:
    """Return a batch of one change."""
    return spark.createDataFrame(
        [(TABLE, f'["{TABLE}","1"]', order_text(1, 1), False, {"n": "x"})], SHAPE
    )


def cells(gateway: Gateway, name: bytes) -> Mapping[bytes, list[tuple[bytes, bytes, bytes, int]]]:
    """Return all cells of a table, as stored."""
    found = rows_of(
        gateway.ask("getScannerResults", table=name, tscan=idl.TScan(caching=1000), numRows=10_000)
    )
    return {row: sorted(stored) for row, stored in found}
