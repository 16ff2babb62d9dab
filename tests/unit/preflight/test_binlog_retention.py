"""How long servers keep their binlog, by the variables of each release."""

import pytest

from relay.source.binlog_retention import (
    GUIDE_SECONDS,
    NEVER_PURGED,
    kept_in_words,
    kept_seconds,
    retention,
)

DAY = 86_400


@pytest.mark.parametrize(
    ("variables", "kept"),
    [
        ({}, None),
        ({"binlog_expire_logs_seconds": "2592000"}, 30 * DAY),
        ({"binlog_expire_logs_seconds": "3600", "expire_logs_days": "9"}, 3600),
        ({"binlog_expire_logs_seconds": "0", "expire_logs_days": "9"}, 9 * DAY),
        ({"expire_logs_days": "0.500000"}, DAY // 2),
        ({"binlog_expire_logs_seconds": "0", "expire_logs_days": "0"}, NEVER_PURGED),
        (
            {"binlog_expire_logs_seconds": "60", "binlog_expire_logs_auto_purge": "OFF"},
            NEVER_PURGED,
        ),
        ({"expire_logs_days": "odd"}, None),
    ],
)
def test_each_release_has_its_variables(variables: dict[str, str], kept: int | None) -> None:
    assert kept_seconds(variables) == kept


@pytest.mark.parametrize(
    ("seconds", "is_warned"), [(GUIDE_SECONDS - 1, True), (GUIDE_SECONDS, False), (0, False)]
)
def test_less_than_the_guide_says_is_a_warning(seconds: int, is_warned: bool) -> None:
    error, facts = retention({"binlog_expire_logs_seconds": str(seconds), "sync_binlog": "0"})
    assert (error is not None) == is_warned
    assert "sync_binlog is 0 (the guide: 1)" in facts


def test_the_time_is_said_in_days_or_hours() -> None:
    assert kept_in_words(7 * DAY) == "binlog files are kept for 7 days"
    assert kept_in_words(5400) == "binlog files are kept for 1.5 hours"
