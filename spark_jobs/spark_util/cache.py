"""Caches DataFrames that are read several times."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame


@contextmanager
def cached(frame: DataFrame) -> Iterator[DataFrame]:
    """Context manager: keep a DataFrame in Spark's cache during the block, and yield it."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()
