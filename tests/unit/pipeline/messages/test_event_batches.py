"""Row events are put together only where nothing stands between them, and nothing changes its
place.
"""

from hypothesis import given
from hypothesis import strategies as st

from relay.model.change import Advance, Operation, RowsEvent, StreamItem
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.table import TableId, TableMap
from relay.pipeline.messages.event_batches import OtherItem, run_at

HERE = BinlogPosition("b.1", 4)
TABLES = [TableMap(TableId("d", name), (), ()) for name in "ab"]
rows = st.builds(
    RowsEvent,
    st.sampled_from(Operation),
    st.sampled_from(TABLES),
    st.just(()),
    st.integers(1, 2),
    st.just(HERE),
    st.integers(1, 60),
)
items = st.lists(rows | rows | rows | st.just(Advance(HERE, SourceIdentity("", 1, 0))), max_size=40)


@given(items=items, most_events=st.integers(1, 5), most_bytes=st.integers(1, 200))
def test_runs_hold_neighbours_that_are_alike(
    items: list[StreamItem], most_events: int, most_bytes: int
) -> None:
    found: list[list[RowsEvent] | OtherItem] = []
    at = 0
    while at < len(items):
        found.append(run_at(items, at, most_events, most_bytes))
        at += len(run) if isinstance(run := found[-1], list) else 1
    flat = [item for each in found for item in (each if isinstance(each, list) else [each])]
    assert all(a is b for a, b in zip(flat, items, strict=True))
    for run in found:
        if isinstance(run, list):
            assert 0 < len(run) <= most_events
            assert sum(event.size_bytes for event in run[:-1]) < most_bytes
            assert len({(id(event.table), event.header_time_s) for event in run}) == 1
