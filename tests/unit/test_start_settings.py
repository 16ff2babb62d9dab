"""Which of the start settings counts, and which contradict each other."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from relay.settings import InstanceSettings, StartSettings

_TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ({}, "end"),
        ({"journal_name": "b.000001", "position": 120}, "position"),
        ({"journal_name": "b.000001", "position": 120, "timestamp": _TIME}, "position"),
        ({"journal_name": "b.000001", "timestamp": _TIME}, "timestamp"),
        ({"journal_name": "b.000001"}, "position"),
        ({"timestamp": _TIME}, "timestamp"),
        ({"at": "oldest"}, "oldest"),
        ({"at": "timestamp", "journal_name": "b.000001", "timestamp": _TIME}, "timestamp"),
    ],
)
def test_the_first_that_is_set_counts(given: dict[str, Any], at: str) -> None:
    start = StartSettings(**given)
    assert start.at == at
    assert StartSettings.model_validate_json(start.model_dump_json()) == start


@pytest.mark.parametrize(
    "given",
    [int(_TIME.timestamp() * 1000), "2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", _TIME],
)
def test_a_time_is_a_moment_whatever_its_form(given: Any) -> None:
    assert StartSettings(timestamp=given).timestamp == _TIME


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"position": 120}, "needs journal_name"),
        ({"position": 120, "timestamp": _TIME, "at": "position"}, "needs journal_name"),
        ({"at": "timestamp"}, "needs timestamp"),
        ({"at": "end", "journal_name": "b.000001"}, "do not belong"),
        ({"at": "oldest", "timestamp": _TIME}, "do not belong"),
        ({"timestamp": datetime(2026, 1, 31, 12)}, "timezone"),  # noqa: DTZ001 - what is to be refused
        ({"journal_name": "b.000001", "position": 3}, "greater than or equal to 4"),
    ],
)
def test_half_a_place_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        StartSettings(**given)


def test_a_gtid_set_is_a_kind_of_start() -> None:
    assert StartSettings.model_validate({"gtid_set": "0-1-5"}).at == "gtid_set"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"gtid_set": "x"}, "is not a GTID"),
        ({"gtid_set": " "}, "the set is empty"),
        ({"at": "gtid_set"}, "needs gtid_set"),
        ({"at": "end", "gtid_set": "0-1-5"}, "needs gtid_set"),
        ({"gtid_set": "0-1-5", "journal_name": "b.1"}, "do not belong to at = 'gtid_set'"),
        ({"gtid_set": "0-1-5", "timestamp": 1}, "do not belong to at = 'gtid_set'"),
    ],
)
def test_a_gtid_set_stands_alone(values: dict[str, object], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        StartSettings.model_validate(values)


@pytest.mark.parametrize(
    ("changed", "setting"),
    [
        ({"start": {"gtid_set": "0-1-5"}}, "start.gtid_set"),
        (
            {"source": {"host": "a", "user": "u", "standby": {"host": "c", "start": {}}}},
            "source.standby.start",
        ),
    ],
)
def test_a_start_of_one_source_is_none_of_a_group(changed: dict[str, Any], setting: str) -> None:
    group = {"name": "one", "sources": [{"name": "two", "host": "b"}]}
    usual = {"name": "shop", "source": {"host": "a", "user": "u"}, "group": group}
    InstanceSettings.model_validate(usual)
    with pytest.raises(ValidationError, match=f"{setting} applies to one source"):
        InstanceSettings.model_validate(usual | changed)
