from hypothesis import given
from hypothesis import strategies as st

from relay.model.positions.position import BinlogPosition, OrderPair
from relay.order import PositionParts, begin_transaction, compose, decompose

positions = st.builds(
    BinlogPosition,
    file=st.integers(0, 2**24).map(lambda n: f"mysql-bin.{n:06d}")
    | st.sampled_from(["", "binlog", "b.x", "b.٣"]),
    offset=st.integers(4, 2**36),
)
transactions = st.lists(
    st.tuples(
        positions, st.integers(0, 2047), st.integers(0, 4_102_444_800_000), st.integers(0, 50)
    ),
    max_size=30,
)


def test_parts_are_found_again() -> None:
    assert decompose(compose(3, BinlogPosition("mysql-bin.000042", 1234))) == PositionParts(
        3, 42, 1234
    )


def test_every_part_is_capped_at_its_width() -> None:
    assert compose(10**6, BinlogPosition("b.99999999999", 2**40)) == 2**63 - 1


@given(transactions)
def test_pairs_rise_whatever_files_epochs_and_clocks_do(
    history: list[tuple[BinlogPosition, int, int, int]],
) -> None:
    previous = OrderPair(0, 0)
    for position, epoch, change_time_ms, rows in history:
        before_first = begin_transaction(
            previous, epoch, position, change_time_ms, latest_ms=2_000_000_000_000
        )
        assert before_first.execute_time >= previous.execute_time
        assert before_first.execute_position >= previous.execute_position
        previous = OrderPair(before_first.execute_time, before_first.execute_position + rows)
        assert previous.execute_time <= 2_000_000_000_000
        assert previous.execute_position < 2**63 + 50 * len(history)


def test_a_change_dated_to_the_far_future_does_not_carry_the_pair_along() -> None:
    dated = begin_transaction(
        OrderPair(1_000, 5), 0, BinlogPosition("b.000001", 4), 2_145_916_800_000, latest_ms=61_000
    )
    assert dated.execute_time == 61_000
    later = begin_transaction(dated, 0, BinlogPosition("b.000001", 400), 2_000, latest_ms=62_000)
    assert later.execute_time == 61_000


def test_a_new_file_orders_after_the_old_one_although_its_offset_is_smaller() -> None:
    old = begin_transaction(
        OrderPair(0, 0), 0, BinlogPosition("b.000001", 27_328_894), 5_000, 9_000
    )
    new = begin_transaction(old, 0, BinlogPosition("b.000002", 601), 5_000, 9_000)
    assert new > old
