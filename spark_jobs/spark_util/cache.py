"""Frames that are read several times."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame


@contextmanager
def cached(frame: DataFrame) -> Iterator[DataFrame]:
    """Hold the frame in the cache of Spark for as long as the block lasts."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()
