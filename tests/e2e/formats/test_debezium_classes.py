"""Debezium's own classes read the messages: Envelope, and ExtractNewRecordState as sinks use it."""

import json
import math
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

from deploy.embedded import find_java
from deploy.embedded.fetching.jars import jars
from tests.e2e.formats.zoo_topics import Record, Zoo

_PROGRAM: Final = Path(__file__).with_name("readers") / "ReadEnvelopes.java"
_OWN: Final = {"__deleted", "__op", "__source_sequence"}
"""What ExtractNewRecordState adds to a row."""


def read(records: list[Record]) -> list[tuple[str, str, dict[str, Any]]]:
    """Operation, table and row of each message, as Debezium's classes give them to a sink."""
    classpath = ":".join(f"{jars(each)}/*" for each in ("debezium", "kafka"))
    ran = subprocess.run(
        [
            find_java().binary,
            "-Dfile.encoding=UTF-8",
            "-Dstdout.encoding=UTF-8",
            "-cp",
            classpath,
            _PROGRAM,
        ],
        input="".join(b64encode(each.value or b"").decode() + "\n" for each in records).encode(),
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    lines = [line for line in ran.stdout.decode().split("\n") if line.count("\t") == 2]
    return [
        (code, table, json.loads(row)) for code, table, row in (each.split("\t") for each in lines)
    ]


def test_they_read_every_row(zoo: Zoo) -> None:
    records = zoo.records("debezium_schemas")
    found = read(records)
    assert len(found) == len(records)
    for record, (code, table, row) in zip(records, found, strict=True):
        payload = json.loads(record.value or b"")["payload"]
        assert (code, table) == (payload["op"], payload["source"]["table"])
        assert row["__source_sequence"] == record.order
        assert row["__deleted"] == str(code == "d").lower()
        wanted = payload["before" if code == "d" else "after"]
        assert row.keys() - _OWN == wanted.keys()
        for name, value in wanted.items():
            assert same(row[name], value), (table, name)


def same(left: object, right: object) -> bool:
    """Whether two values are equal; a FLOAT has 24 bits for Debezium's classes."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6)
    return left == right
