"""When functions are written, how many are kept, and what never enters their source."""

import ast
from typing import Any

import pytest

from relay.generated import Kind, RowPrinter, row_printer
from relay.generated.bounded_forms import BoundedForms
from relay.generated.column_source import ColumnPlan, column_source, literal
from relay.generated.row_source import RowSource
from relay.generated.table_source import TableSource
from relay.model.message import PrintedRecord
from relay.model.row_path import SlowReason

NUMBER: ColumnPlan = (int(Kind.UNSIGNED), 4, False, False, False, 0, 0, b'{"id":', None)
TEXT: ColumnPlan = (int(Kind.UTF8), 1, True, True, False, 0, 0, b',"t":', None)
ROW = b"\x00" + (7).to_bytes(4, "little") + b"\x02ab"


def printer(worth_bytes: int = 0) -> RowPrinter:
    return RowPrinter([NUMBER, TEXT], (0,), b'["x"', (), 0, 1, worth_bytes=worth_bytes)


def records(of: RowPrinter, body: bytes) -> list[PrintedRecord] | None:
    found = of.print_rows(body, 0, False, b"],", b"}", 1, 5, 0, None)
    return None if isinstance(found, SlowReason) else [*found[3]]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[RowSource]:
    """Every source that is written from now on."""
    sources: list[RowSource] = []

    class Noted(RowSource):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            sources.append(self)

    monkeypatch.setattr(row_printer, "RowSource", Noted)
    return sources


def test_a_row_is_printed() -> None:
    assert records(printer(), ROW) == [(0, b'["x","7"]', b'{"data":[{"id":"7","t":"ab"}],}', b"0000000000001.0000000000000000006", None)]


def test_a_function_is_written_once(written: list[RowSource]) -> None:
    own = printer()
    for _ in range(3):
        assert records(own, ROW * 3) is not None
    assert len(written) == 1


def test_nulls_have_functions_of_their_own_up_to_a_number(written: list[RowSource]) -> None:
    many = RowPrinter([NUMBER] + [TEXT] * 6, (0,), b"[", (), 0, 1, worth_bytes=0)
    for bits in range(64):
        nulls, values = bytes((bits << 1,)), (7).to_bytes(4, "little") + b"\x01a" * (6 - bits.bit_count())
        assert records(many, nulls + values) is not None
    assert len(written) == row_printer.NULLS_KNOWN + 1


def test_tables_that_look_the_same_share_their_code() -> None:
    records(printer(), ROW)
    before = row_printer.code_of.cache_info()
    records(printer(), ROW)
    after = row_printer.code_of.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


def test_no_more_functions_are_kept_than_stated() -> None:
    forms: BoundedForms[int, str] = BoundedForms(3)
    for number in range(10):
        forms.keep(number, "f")
    assert [*forms] == [7, 8, 9]


def test_rows_of_a_table_that_is_hardly_used_are_left_alone(written: list[RowSource]) -> None:
    own = printer(worth_bytes=len(ROW) * 4)
    assert [records(own, ROW) is None for _ in range(5)] == [True, True, True, False, False]
    assert len(written) == 1


@pytest.mark.parametrize("cut", range(1, len(ROW)))
def test_a_row_cut_short_gives_nothing(cut: int) -> None:
    assert records(printer(), ROW[:cut]) is None
    assert records(printer(), ROW + ROW[:cut]) is None


def test_names_enter_the_source_as_characters_only() -> None:
    name = "'); import os #{place}\\\n\x00é".encode()
    hostile: ColumnPlan = (*NUMBER[:7], b'{"' + name + b'":', None)
    table = TableSource((column_source(0, hostile),), (0,), name, (), 0, 1)
    tree = ast.parse(RowSource(table, (b"\0",), update=False, packed=False).text)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert literal(name).isascii()
    found = records(RowPrinter([hostile], (0,), name, (), 0, 1, worth_bytes=0), b"\0\x07\0\0\0")
    assert found is not None
    assert found[0][1:3] == (name + b',"7"]', b'{"data":[{"' + name + b'":"7"}],}')
