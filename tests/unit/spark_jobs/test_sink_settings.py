"""The sections of the places for copies: each goes with its sink, and the page names every key."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import PydanticUndefined

from spark_jobs.hbase.settings import FilesSettings, HBaseSettings
from spark_jobs.mirror.settings import MirrorSettings
from spark_jobs.settings import JobSettings

GOOD = {"kafka": {"bootstrap_servers": "k:9092", "topics": ["shop"]}, "copy_root": "/copies"}
HBASE = {"thrift": ["h:9090"]}
MIRROR = {"host": "m", "user": "u"}


@pytest.mark.parametrize(
    "more", [{"sink": "hbase", "hbase": HBASE}, {"sink": "jdbc", "mirror": MIRROR}, {"sink": "parquet"}, {"sink": "delta"}, {}]
)
def test_a_sink_with_its_section_is_taken(more: dict[str, object]) -> None:
    assert JobSettings.model_validate({**GOOD, **more}).sink == more.get("sink", "delta")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"sink": "hbase"}, "[hbase] and sink = 'hbase' go together"),
        ({"hbase": HBASE}, "[hbase] and sink = 'hbase' go together"),
        ({"sink": "jdbc"}, "[mirror] and sink = 'jdbc' go together"),
        ({"sink": "hbase", "hbase": HBASE, "raw_rule": True}, "raw_rule needs another sink"),
        ({"sink": "parquet", "schema_changes": {"dropped": "drop"}}, "keeps dropped columns"),
    ],
)
def test_what_does_not_go_together_is_named(more: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(sentence)):
        JobSettings.model_validate({**GOOD, **more})


@pytest.mark.parametrize(("section", "model"), [("hbase", HBaseSettings), ("hbase.files", FilesSettings), ("mirror", MirrorSettings)])
def test_the_page_names_every_key_and_its_default(section: str, model: type[BaseModel]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "spark-sinks.md").read_text(encoding="utf-8")
    table = dict(re.findall(rf"^\| `{section}\.(\w+)` \| (.*?) \|", page, re.MULTILINE))
    assert table == {name: shown(field.default) for name, field in model.model_fields.items()}


def shown(default: object) -> str:
    if default is PydanticUndefined:
        return ""
    return "none" if default in (None, "", (), SecretStr("")) else str(default)
