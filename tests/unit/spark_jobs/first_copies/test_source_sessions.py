"""Every session of a source sees all of it, whatever variables its server has."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import spark_jobs
from relay.model.source_rows.sessions import AND_SEE_ALL, AND_SORT_WHOLE_KEYS
from spark_jobs.config.copy import SourceServer
from spark_jobs.origin.database import SourceDatabase

_FOLDER = Path(spark_jobs.__file__).parent
_READER = _FOLDER / "origin" / "database.py"


class Reader:
    """Spark's reader: notes its format and options."""

    def __init__(self) -> None:
        self.noted: dict[str, str] = {}
        self.kind = ""

    def format(self, kind: str) -> "Reader":
        self.kind = kind
        return self

    def options(self, **options: str) -> "Reader":
        self.noted |= options
        return self

    def option(self, name: str, value: str) -> "Reader":
        self.noted[name] = value
        return self

    def load(self) -> "Reader":
        return self


def test_a_query_is_executed_in_a_session_without_limits_of_the_server() -> None:
    reader = Reader()
    spark: Any = SimpleNamespace(read=reader)
    server = SourceServer.model_validate(
        {"instance": "one", "host": "h", "user": "u", "password": "p"}
    )
    SourceDatabase(spark, server).query("select 1")
    statement = reader.noted["sessionInitStatement"]
    assert (reader.kind, reader.noted["query"]) == ("jdbc", "select 1")
    assert statement.startswith("SET SESSION ")
    assert statement.endswith(AND_SEE_ALL + AND_SORT_WHOLE_KEYS)
    assert "sql_select_limit = 18446744073709551615" in statement


def test_no_other_module_of_the_jobs_reads_a_source_over_jdbc() -> None:
    others = [
        each
        for each in _FOLDER.rglob("*.py")
        if each != _READER and re.search(r'format\("jdbc"\)|\.jdbc\(', each.read_text())
    ]
    assert others == []
