"""Items of relay.source come back from a block as they went in."""

import gc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.model.change import (
    Advance,
    RawItem,
    RawRows,
    Statement,
    TransactionBegin,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.sql_mode import SqlMode
from relay.spool.items import BlockWriter, items_of

_NUMBERS = st.integers(0, 2**32 - 1)
_TEXTS = st.text(max_size=20)
_BYTES = st.binary(max_size=40)
_PLACES = st.builds(
    BinlogPosition, st.sampled_from(("", "binlog.000001", "binlog.000002")), st.integers(0, 2**63)
)
_IDENTITIES = st.builds(SourceIdentity, _TEXTS, _NUMBERS, _NUMBERS)
_ITEMS = st.one_of(
    st.builds(
        TransactionBegin, _PLACES, _TEXTS, st.none() | st.integers(-(2**62), 2**62), _NUMBERS
    ),
    st.builds(RawRows, _BYTES, _BYTES, st.integers(0, 255), _NUMBERS, _PLACES, st.booleans()),
    st.builds(Statement, _TEXTS, _TEXTS, _NUMBERS, _PLACES),
    st.builds(XaStep, st.sampled_from(XaAction), st.text(max_size=60), _PLACES),
    st.builds(TransactionEnd, _PLACES, _TEXTS, _IDENTITIES),
    st.builds(Advance, _PLACES, _IDENTITIES),
)


def block_of(items: Sequence[RawItem]) -> bytes:
    writer = BlockWriter()
    for item in items:
        writer.add(item)
    size_bytes, block = writer.size_bytes, writer.take()
    assert (size_bytes, writer.size_bytes) == (len(block), 0)
    return block


@given(st.lists(_ITEMS, max_size=30))
def test_a_block_gives_back_what_was_put_into_it(items: list[RawItem]) -> None:
    found = list(items_of(block_of(items)))
    assert found == items
    assert list(map(type, found)) == list(map(type, items))


@given(st.lists(_ITEMS, max_size=10), st.lists(_ITEMS, max_size=10))
def test_a_writer_that_was_emptied_begins_anew(first: list[RawItem], second: list[RawItem]) -> None:
    writer = BlockWriter()
    for item in first:
        writer.add(item)
    writer.take()
    for item in second:
        writer.add(item)
    assert list(items_of(writer.take())) == second


def test_what_items_share_stands_once() -> None:
    table_map, position = b"t" * 500, BinlogPosition("binlog.000001", 4)
    rows = [RawRows(table_map, b"r" * 10, 30, 1, position, mariadb=False)] * 20
    assert len(block_of(rows)) < 500 + 20 * 50
    tables = {id(item.table_map) for item in items_of(block_of(rows)) if isinstance(item, RawRows)}
    assert len(tables) == 1


def test_bytes_that_are_no_block_are_an_error_and_no_item() -> None:
    with pytest.raises((ValueError, IndexError)):
        list(items_of(b"\x17"))


def test_a_block_that_was_read_is_free_at_once() -> None:
    """Not only when the collector comes, which it seldom does: a spool of gigabytes passes through
    here.
    """
    block = block_of(
        [Statement("create table t (id int)", "shop", 1, BinlogPosition("binlog.000001", 4))]
    )
    gc.disable()
    try:
        for _ in range(5):
            list(items_of(block))
        left = [each for each in gc.get_objects() if type(each).__name__ == "_BlockReader"]
    finally:
        gc.enable()
    assert left == []


def test_a_statement_keeps_the_mode_of_its_session_and_an_older_relay_reads_past_it() -> None:
    place = BinlogPosition("binlog.000001", 4)
    plain = Statement("create table t (id int)", "shop", 1, place)
    ansi = plain._replace(sql_mode=SqlMode.ANSI_QUOTES)
    items = [
        ansi,
        plain,
        plain._replace(failed=True),
        ansi,
        plain._replace(sql_mode=SqlMode.ORACLE | SqlMode.NO_BACKSLASH_ESCAPES),
        plain,
    ]
    block = block_of(items)
    assert list(items_of(block)) == items
    numbers = {item.position.file for item in items_of(block) if isinstance(item, Statement)}
    assert numbers == {"binlog.000001"}
