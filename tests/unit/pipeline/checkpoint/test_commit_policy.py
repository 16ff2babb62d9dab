"""When the open batch ends: every case of the policy, and what holds in all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.pipeline.checkpoint.commit_policy import (
    POSITION_HEARTBEAT_SECONDS,
    POSITION_SECONDS,
    BatchEnd,
    BatchView,
    batch_end,
)
from relay.settings import TransactionSettings

SETTINGS = TransactionSettings(
    busy_commit_ms=200, busy_commit_bytes=10_000, split_bytes=50_000, timeout_ms=15_000
)
PART_SECONDS = 5.0
EMPTY = BatchView(
    messages=0,
    size_bytes=0,
    open_seconds=0.0,
    whole=True,
    idle=False,
    moved=False,
    seconds_since_commit=0.0,
)
WHOLE = EMPTY._replace(messages=1, size_bytes=1, open_seconds=0.1)
OPEN = WHOLE._replace(whole=False)

VIEWS = st.builds(
    BatchView,
    messages=st.integers(0, 3),
    size_bytes=st.sampled_from([0, 9_999, 10_000, 49_999, 50_000]),
    open_seconds=st.sampled_from([0.0, 0.199, 0.2, 4.99, PART_SECONDS]),
    whole=st.booleans(),
    idle=st.booleans(),
    moved=st.booleans(),
    seconds_since_commit=st.sampled_from([0.0, POSITION_SECONDS, POSITION_HEARTBEAT_SECONDS]),
)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (WHOLE, BatchEnd.NOT_YET),
        (WHOLE._replace(idle=True), BatchEnd.WHOLE),
        (WHOLE._replace(open_seconds=0.199), BatchEnd.NOT_YET),
        (WHOLE._replace(open_seconds=0.2), BatchEnd.WHOLE),
        (WHOLE._replace(size_bytes=9_999), BatchEnd.NOT_YET),
        (WHOLE._replace(size_bytes=10_000), BatchEnd.WHOLE),
        (WHOLE._replace(seconds_since_commit=POSITION_HEARTBEAT_SECONDS), BatchEnd.NOT_YET),
        (OPEN, BatchEnd.NOT_YET),
        (OPEN._replace(idle=True), BatchEnd.NOT_YET),
        (OPEN._replace(size_bytes=49_999), BatchEnd.NOT_YET),
        (OPEN._replace(size_bytes=50_000), BatchEnd.PART),
        (OPEN._replace(open_seconds=4.99), BatchEnd.NOT_YET),
        (OPEN._replace(open_seconds=PART_SECONDS), BatchEnd.PART),
        (EMPTY, BatchEnd.NOT_YET),
        (EMPTY._replace(idle=True), BatchEnd.NOT_YET),
        (EMPTY._replace(moved=True, seconds_since_commit=POSITION_SECONDS - 1), BatchEnd.NOT_YET),
        (EMPTY._replace(moved=True, seconds_since_commit=POSITION_SECONDS), BatchEnd.POSITION),
        (EMPTY._replace(seconds_since_commit=POSITION_SECONDS), BatchEnd.NOT_YET),
        (EMPTY._replace(seconds_since_commit=POSITION_HEARTBEAT_SECONDS), BatchEnd.POSITION),
        (
            EMPTY._replace(
                whole=False, moved=True, seconds_since_commit=POSITION_HEARTBEAT_SECONDS
            ),
            BatchEnd.NOT_YET,
        ),
    ],
)
def test_each_case(batch: BatchView, expected: BatchEnd) -> None:
    assert batch_end(batch, SETTINGS) is expected


@given(batch=VIEWS)
def test_a_part_is_never_called_whole_and_a_position_never_travels_with_rows(
    batch: BatchView,
) -> None:
    holds = {
        BatchEnd.PART: (True, False),
        BatchEnd.WHOLE: (True, True),
        BatchEnd.POSITION: (False, True),
    }
    found = batch_end(batch, SETTINGS)
    assert found is BatchEnd.NOT_YET or (bool(batch.messages), batch.whole) == holds[found]
