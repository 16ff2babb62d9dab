import pytest

from relay.ha import AfterFence, after_fence


@pytest.mark.parametrize(
    ("leading", "open_s", "then"),
    [
        (True, 15.0, AfterFence.NEW_PRODUCER),
        (True, 14.0, AfterFence.NEW_PRODUCER),
        (True, 3.0, AfterFence.CONTESTED),
        (False, 15.0, AfterFence.REJOIN),
        (False, 0.0, AfterFence.REJOIN),
    ],
)
def test_only_a_leader_with_a_long_transaction_opens_a_new_producer(leading: bool, open_s: float, then: AfterFence) -> None:
    assert after_fence(leading, open_s, timeout_seconds=15.0) is then
