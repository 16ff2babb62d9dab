"""Times on the command line: with a zone, or as Canal writes them."""

from datetime import UTC, datetime

import pytest
import typer

from relay.cli.moment import moment

_TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00Z", "2026-01-31 13:00:00+01:00", "1769860800000"]
)
def test_a_time_with_a_zone_is_read(text: str) -> None:
    assert moment(text) == _TIME


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00", "yesterday", "", "-1", "9" * 30])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        moment(text)
