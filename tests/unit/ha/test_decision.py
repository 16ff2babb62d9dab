import pytest

from relay.ha import AfterFence, after_fence, who_leads


@pytest.mark.parametrize(
    ("leading", "open_s", "then"),
    [
        (True, 15.0, AfterFence.NEW_PRODUCER),
        (True, 14.0, AfterFence.NEW_PRODUCER),
        (True, 3.0, AfterFence.REJOIN),
        (False, 15.0, AfterFence.REJOIN),
        (False, 0.0, AfterFence.REJOIN),
    ],
)
def test_only_a_leader_with_a_long_transaction_opens_a_new_producer(leading: bool, open_s: float, then: AfterFence) -> None:
    assert after_fence(leading, open_s, timeout_seconds=15.0) is then


def test_who_has_waited_longest_leads() -> None:
    assert who_leads(["candidate-0000000012", "candidate-0000000009"]) == "candidate-0000000009"
    assert who_leads([]) is None
