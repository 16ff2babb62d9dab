"""Debezium's JSON from real servers, read by programs that are not the relay's."""

import json
from typing import Any

import pytest

from tests.e2e.formats.zoo_topics import Fold, Texts, Zoo

OPERATIONS = {"c": (False, True), "u": (True, True), "d": (True, False)}
"""By operation, whether there is a row before and after."""


def envelope(value: bytes) -> dict[str, Any]:
    """The payload, with numbers as the texts that they have in the message."""
    found: dict[str, Any] = json.loads(value, parse_float=str, parse_int=str)
    return found["payload"] if "schema" in found else found


@pytest.mark.parametrize("form", ["debezium", "debezium_schemas"])
def test_every_type_is_what_the_server_prints(zoo: Zoo, form: str) -> None:
    fold = Fold()
    for record in zoo.records(form):
        payload = envelope(record.value or b"")
        before: Texts | None = payload["before"]
        after: Texts | None = payload["after"]
        assert (before is not None, after is not None) == OPERATIONS[payload["op"]]
        source = payload["source"]
        assert source["sequence"] == record.order
        assert source["file"]
        assert int(source["pos"]) > 0
        assert int(source["server_id"]) > 0
        fold.apply(source["table"], before, after)
    assert not fold.differences(zoo)


def test_both_printers_give_the_same_rows(zoo: Zoo) -> None:
    compiled, readable = (
        [without_times(record.value or b"") for record in zoo.records(form)]
        for form in ("debezium", "debezium_readable")
    )
    assert compiled == readable


def without_times(value: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(value, parse_float=str)
    del found["ts_ms"], found["source"]["name"], found["source"]["sequence"]
    return found
