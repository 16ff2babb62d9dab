"""The remedy of an instance that no configuration file names speaks of its settings in
ZooKeeper.
"""

import pytest

from relay.errors import (
    BatchAborted,
    ConditionRefused,
    ConfigurationError,
    MessageTooLarge,
    RelayError,
    SourceUnreachable,
)
from relay.pipeline.supervision.run_time_remedy import remedy_at_run_time

ADDRESS = "PUT /api/v1/instances/shop/settings"


def test_no_configuration_file_is_named() -> None:
    remedy = remedy_at_run_time(ConfigurationError("x"), "shop")
    assert "file" not in remedy
    assert ADDRESS in remedy


@pytest.mark.parametrize("error", [MessageTooLarge("x"), ConditionRefused("x")])
def test_a_stop_says_how_settings_are_changed_and_it_starts_again(error: RelayError) -> None:
    remedy = remedy_at_run_time(error, "shop")
    assert remedy.startswith(error.way_out)
    assert ADDRESS in remedy
    assert "`roma instance start shop`" in remedy


@pytest.mark.parametrize("error", [SourceUnreachable("x"), BatchAborted("x")])
def test_what_heals_by_itself_stays_as_it_is(error: RelayError) -> None:
    assert remedy_at_run_time(error, "shop") == error.way_out
