"""A refused replay names its reason, also where the abort of its transaction fails."""

import sys
from typing import Any
from unittest.mock import Mock

import pytest

import relay.operations
from relay.errors import BatchAborted, Fenced, RelayError, ReplayRefused
from relay.operations import Who

MODULE = sys.modules["relay.operations.replay"]


@pytest.mark.parametrize("error", [BatchAborted("no answer"), Fenced("a newer one")])
def test_a_refusal_is_raised_whatever_the_abort_says(
    error: RelayError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise ReplayRefused("Dead letter 10-1 is older than the record at partition 0.")

    producer = Mock()
    producer.abort.side_effect = error
    monkeypatch.setattr(MODULE, "AuditTrail", Mock())
    monkeypatch.setattr(MODULE, "single_producer", Mock(return_value=producer))
    monkeypatch.setattr(MODULE, "_sent", refused)
    with pytest.raises(ReplayRefused, match="older than the record"):
        relay.operations.replay(Mock(), Mock(), "10-1", Who("ann", ""))
    producer.close.assert_called_once_with()
