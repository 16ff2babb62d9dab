"""Where two jobs may write at the same time."""

import pytest

from spark_jobs.sinks.writer_exclusion import loses_commits

FOR_SEVERAL = "io.delta.storage.S3DynamoDBLogStore"
FOR_ONE = "io.delta.storage.S3SingleDriverLogStore"


@pytest.mark.parametrize("scheme", ["file", "hdfs", "abfss", "gs"])
def test_these_places_keep_drivers_apart(scheme: str) -> None:
    assert not any(
        loses_commits(scheme, None, sink) for sink in ("delta", "hbase", "jdbc", "parquet")
    )


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
@pytest.mark.parametrize("sink", ["delta", "hbase", "jdbc"])
def test_s3_needs_a_log_store_for_several_drivers(scheme: str, sink: str) -> None:
    assert loses_commits(scheme, None, sink)
    assert loses_commits(scheme, FOR_ONE, sink)
    assert not loses_commits(scheme, FOR_SEVERAL, sink)


def test_turns_of_parquet_are_not_kept_by_a_log_store() -> None:
    assert loses_commits("s3a", FOR_SEVERAL, "parquet")
