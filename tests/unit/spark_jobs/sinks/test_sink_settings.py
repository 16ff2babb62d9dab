"""The sections of the places for copies: each goes with its sink."""

import re

import pytest
from pydantic import ValidationError

from spark_jobs.config.job import JobSettings

GOOD = {"kafka": {"bootstrap_servers": "k:9092", "topics": ["shop"]}, "copy_root": "/copies"}
HBASE = {"thrift": ["h:9090"]}
MIRROR = {"host": "m", "user": "u"}
RENAMES = {"truncate": "follow", "schema_changes": {"renamed": "follow"}}


@pytest.mark.parametrize(
    "more",
    [
        {"sink": "hbase", "hbase": HBASE},
        {"sink": "jdbc", "mirror": MIRROR},
        {"sink": "parquet"},
        {"sink": "delta"},
        {},
        RENAMES,
    ],
)
def test_a_sink_with_its_section_is_taken(more: dict[str, object]) -> None:
    assert JobSettings.model_validate({**GOOD, **more}).sink == more.get("sink", "delta")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"sink": "hbase"}, "[hbase] is needed for sink = 'hbase'"),
        ({"hbase": HBASE}, "[hbase] is needed for sink = 'hbase'"),
        ({"sink": "jdbc"}, "[mirror] is needed for sink = 'jdbc'"),
        ({"sink": "hbase", "hbase": HBASE, "raw_rule": True}, "raw_rule needs another sink"),
        ({"sink": "hbase", "hbase": HBASE, "truncate": "follow"}, "truncate = 'follow' needs"),
        ({"raw_rule": True, "truncate": "follow"}, "truncate = 'follow' needs"),
        ({"row_images": "merge", "sink": "parquet"}, "row_images = 'merge' needs sink = 'delta'"),
        ({"row_images": "merge", "history": True}, "history = false"),
        ({"row_images": "merge", "truncate": "follow"}, "truncate = 'follow' needs"),
        (
            {"schema_changes": {"renamed": "follow"}},
            "schema_changes.renamed = 'follow' needs truncate = 'follow'",
        ),
        (
            {"sink": "parquet", **RENAMES},
            "schema_changes.renamed = 'follow' needs truncate = 'follow', sink = 'delta'",
        ),
        ({"history": True, **RENAMES}, "and history = false"),
        (
            {"truncate": "follow", "schema_changes": {"renamed": "follow", "added": "ignore"}},
            "needs added = 'add' and dropped = 'keep'",
        ),
        (
            {"truncate": "follow", "schema_changes": {"renamed": "follow", "dropped": "drop"}},
            "needs added = 'add' and dropped = 'keep'",
        ),
        ({"sink": "parquet", "schema_changes": {"dropped": "drop"}}, "keeps dropped columns"),
    ],
)
def test_what_does_not_go_together_is_named(more: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(sentence)):
        JobSettings.model_validate({**GOOD, **more})
