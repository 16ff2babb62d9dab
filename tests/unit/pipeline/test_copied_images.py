"""Rows of a SELECT as row images: compiled code makes the messages that the readable path makes."""

from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymysql.err import OperationalError

from relay.compiled import COMPILED
from relay.decode.image_reader import ImageReader
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableId
from relay.pipeline.copying.printing.bulk_rows import BulkRows
from relay.pipeline.copying.printing.chunk_images import image_writer
from relay.pipeline.copying.printing.copied_messages import CopiedMessages, CopyMoment
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.history.described import DescribedColumn
from relay.settings import InstanceSettings
from relay.source.protocol import row_packets
from tests.support.rows.table_plans import plan_printer, table_definition, table_plan

pytestmark = pytest.mark.skipif(not COMPILED, reason="no compiled code")

TABLE = TableId("shop", "orders")
UTF8 = "utf8mb4"


def whole(bits: int, *, unsigned: bool) -> st.SearchStrategy[bytes]:
    least, most = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.integers(least, most).map(lambda number: b"%d" % number)


def decimals(precision: int, scale: int) -> st.SearchStrategy[bytes]:
    def text(number: int) -> bytes:
        digits = f"{abs(number):0{scale + 1}d}"
        whole_part = digits[: len(digits) - scale]
        fraction = f".{digits[len(digits) - scale :]}" if scale else ""
        return f"{'-' * (number < 0)}{whole_part}{fraction}".encode()

    return st.integers(1 - 10**precision, 10**precision - 1).map(text)


def fraction(digits: int) -> st.SearchStrategy[str]:
    return st.integers(0, 10**digits - 1).map(lambda n: f".{n:0{digits}d}" if digits else "")


def moments(digits: int, least: str, most: str) -> st.SearchStrategy[bytes]:
    days = st.datetimes(datetime.fromisoformat(least), datetime.fromisoformat(most))
    return st.tuples(days, fraction(digits)).map(
        lambda each: (each[0].replace(microsecond=0).isoformat(" ") + each[1]).encode()
    )


def durations(digits: int) -> st.SearchStrategy[bytes]:
    parts = st.tuples(
        st.sampled_from(["", "-"]), st.integers(0, 837), st.integers(0, 59), st.integers(0, 59)
    )
    return (
        st.tuples(parts, fraction(digits))
        .map(lambda each: "{}{:02d}:{:02d}:{:02d}".format(*each[0]).encode() + each[1].encode())
        .map(lambda text: text if text.strip(b"-0:.") else text.lstrip(b"-"))  # columns have no -0
    )


CASES: dict[str, tuple[DescribedColumn, st.SearchStrategy[bytes]]] = {
    **{
        f"{kind} {unsigned}": (
            DescribedColumn("c", kind, unsigned=unsigned),
            whole(bits, unsigned=unsigned),
        )
        for kind, bits in (
            ("tinyint", 8),
            ("smallint", 16),
            ("mediumint", 24),
            ("int", 32),
            ("bigint", 64),
        )
        for unsigned in (False, True)
    },
    "year": (DescribedColumn("c", "year"), st.sampled_from([b"0000", b"1901", b"2026", b"2155"])),
    "float": (
        DescribedColumn("c", "float"),
        st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda n: repr(n).encode()),
    ),
    "double": (
        DescribedColumn("c", "double"),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda n: repr(n).encode()),
    ),
    **{
        f"decimal {precision} {scale}": (
            DescribedColumn("c", "decimal", (precision, scale)),
            decimals(precision, scale),
        )
        for precision, scale in ((1, 0), (5, 5), (12, 2), (18, 9), (20, 19), (65, 30))
    },
    "date": (
        DescribedColumn("c", "date"),
        st.one_of(st.just(b"0000-00-00"), st.dates().map(lambda d: d.isoformat().encode())),
    ),
    **{
        f"{kind} {digits}": (DescribedColumn("c", kind, (digits,)), texts)
        for digits in (0, 1, 3, 6)
        for kind, texts in (
            ("datetime", moments(digits, "0001-01-01", "9999-12-31")),
            ("timestamp", moments(digits, "1970-01-01 00:00:01", "2038-01-19 03:14:07")),
            ("time", durations(digits)),
        )
    },
    "varchar": (
        DescribedColumn("c", "varchar", (300,), charset=UTF8),
        st.text(max_size=300).map(str.encode),
    ),
    "char": (
        DescribedColumn("c", "char", (20,), charset=UTF8),
        st.text(max_size=20).map(str.encode),
    ),
    "latin1": (DescribedColumn("c", "varchar", (30,), charset="latin1"), st.binary(max_size=30)),
    "binary": (
        DescribedColumn("c", "binary", (8,), charset="binary"),
        st.binary(min_size=8, max_size=8),
    ),
    "varbinary": (
        DescribedColumn("c", "varbinary", (64,), charset="binary"),
        st.binary(max_size=64),
    ),
    "blob": (DescribedColumn("c", "blob", charset="binary"), st.binary(max_size=999)),
    "text": (DescribedColumn("c", "longtext", charset=UTF8), st.text().map(str.encode)),
    "bit": (
        DescribedColumn("c", "bit", (9,)),
        st.integers(0, 511).map(lambda n: n.to_bytes(2, "big")),
    ),
    "enum": (
        DescribedColumn("c", "enum", charset=UTF8, labels=("a", "b")),
        st.sampled_from([b"0", b"1", b"2"]),
    ),
    "set": (
        DescribedColumn("c", "set", charset=UTF8, labels=("x", "y")),
        st.sampled_from([b"0", b"1", b"3"]),
    ),
}


def table_of(column: DescribedColumn) -> CopiedTable:
    key = DescribedColumn("id", "bigint", nullable=False)
    columns = DescribedTable((key, column), ("id",), UTF8, ())
    return copied_table(TABLE, columns, mariadb=False)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_an_image_holds_the_values_that_are_read_of_the_cells(case: str, data: Any) -> None:
    column, texts = CASES[case]
    table = table_of(column)
    rows = data.draw(
        st.lists(
            st.tuples(whole(64, unsigned=False), st.one_of(st.none(), texts), st.just(b"key")),
            min_size=1,
            max_size=5,
        )
    )
    writer = image_writer(table)
    assert writer is not None
    body = writer.body(rows)
    assert body is not None
    read, at = ImageReader(table.map, b"\xff").read, 0
    for row in rows:
        found, at = read(body, at)
        assert found == table.row(row[:2]).after
    assert at == len(body)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_compiled_messages_are_those_of_the_readable_path(case: str, data: Any) -> None:
    column, texts = CASES[case]
    table = table_of(column)
    cells = st.tuples(whole(64, unsigned=False), st.one_of(st.none(), texts))
    rows = data.draw(st.lists(cells, min_size=1, max_size=3))
    plan = table_plan(table_definition(table.map), TABLE, "orders", 7)
    printer = plan_printer(plan)
    bulk = BulkRows()
    bulk.use(table, _with_printer(plan, printer))
    place = BinlogPosition("binlog.000007", 1234)
    moment = CopyMoment(place, OrderPair(1_700_000_000_000, 99), 3, 1_700_000_000_123, 7, 2)
    source = {"host": "h", "user": "u", "server_id": 7}
    instance = InstanceSettings.model_validate({"name": "x", "source": source})
    messages = CopiedMessages(instance, table, plan, moment)
    printed = bulk.printed(rows, messages)
    assert printed is not None
    expected = [each for row in rows for each in messages.of(table.row(row))]
    assert list(printed.each(plan.routes[0].topic)) == expected


def _with_printer(plan: Any, printer: Any) -> Any:
    return replace(plan, printer=printer)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("tinyint", b"128"),
        ("tinyint", b"-129"),
        ("tinyint", b""),
        ("bigint", b"9223372036854775808"),
        ("int", b"1x"),
        ("date", b"2026-1-1"),
        ("year", b"1900"),
        ("datetime", b"2026-01-01"),
        ("timestamp", b"1969-12-31 23:59:59"),
        ("time", b"839:00:00"),
        ("double", b"one"),
    ],
)
def test_a_cell_that_is_no_text_of_its_column_makes_no_image(kind: str, cell: bytes) -> None:
    writer = image_writer(table_of(DescribedColumn("c", kind)))
    assert writer is not None
    assert writer.body([(b"1", cell)]) is None


@pytest.mark.parametrize("kind", ["json", "uuid", "inet6"])
def test_columns_whose_cells_need_a_further_rule_have_no_writer(kind: str) -> None:
    assert image_writer(table_of(DescribedColumn("c", kind))) is None


def packed(cell: bytes | None) -> bytes:
    if cell is None:
        return b"\xfb"
    if len(cell) < 251:
        return bytes([len(cell)]) + cell
    if len(cell) < 1 << 16:
        return b"\xfc" + len(cell).to_bytes(2, "little") + cell
    return b"\xfd" + len(cell).to_bytes(3, "little") + cell


@given(
    row=st.lists(st.one_of(st.none(), st.binary(max_size=300), st.just(b"x" * 70_000))),
    cut=st.integers(1, 9),
)
def test_both_ways_split_a_packet_into_its_cells_and_refuse_a_damaged_one(
    row: list[bytes | None], cut: int
) -> None:
    packet = b"".join(map(packed, row))
    assert row_packets.split(packet) == row_packets.cells(packet) == tuple(row)
    results: list[object] = []
    for split in (row_packets.split, row_packets.cells):
        try:
            results.append(split(packet[:-cut]))
        except ValueError as exc:
            results.append(str(exc))
    assert results[0] == results[1]


class Wire:
    """Gives bytes in pieces as a socket does."""

    def __init__(self, data: bytes, piece: int) -> None:
        self._data, self._piece = data, piece

    def read1(self, size: int) -> bytes:
        return self.read(min(size, self._piece))

    def read(self, size: int) -> bytes:
        taken, self._data = self._data[:size], self._data[size:]
        return taken


class Connection:
    """A driver whose answer is on the wire."""

    def __init__(self, data: bytes, piece: int) -> None:
        self._rfile = Wire(data, piece)
        self.closed = False

    def _execute_command(self, *_: object) -> None: ...

    def _read_packet(self) -> Any:
        return SimpleNamespace(read_length_encoded_integer=lambda: 1)

    def _force_close(self) -> None:
        self.closed = True


def framed(payload: bytes, most: int) -> bytes:
    parts = [payload[at : at + most] for at in range(0, len(payload) + 1, most)]
    return b"".join(len(part).to_bytes(3, "little") + b"\1" + part for part in parts)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=25)
@given(data=st.data())
def test_rows_are_read_from_pieces_and_large_ones_from_several_packets(
    data: Any, *, compiled: bool
) -> None:
    most = data.draw(st.sampled_from([20, 100]))
    cell = st.binary(min_size=0, max_size=60)
    rows = data.draw(st.lists(st.lists(st.one_of(st.none(), cell), min_size=1, max_size=4)))
    answer = b"".join(framed(b"".join(map(packed, row)), most) for row in rows)
    piece = data.draw(st.integers(1, 200))
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(row_packets, "_MOST_BYTES", most)
            patch.setattr(row_packets, "split_packets", row_packets.packets)
        elif any(len(b"".join(map(packed, row))) >= most for row in rows):
            return
        login: Any = Connection(answer + framed(b"\xfe\0\0\2\0", 100), piece)
        assert row_packets.read_rows(login, "SELECT 1") == [tuple(row) for row in rows]
        cut: Any = Connection(answer, piece)
        with pytest.raises(OperationalError):
            row_packets.read_rows(cut, "SELECT 1")
        assert cut.closed


def test_an_error_within_the_rows_is_the_servers() -> None:
    refusal = b"\xff" + (1317).to_bytes(2, "little") + b"#70100Query execution was interrupted"
    login: Any = Connection(framed(b"\1a", 100) + framed(refusal, 100), 7)
    with pytest.raises(OperationalError, match="interrupted"):
        row_packets.read_rows(login, "SELECT 1")


@pytest.mark.parametrize("refused", [0, 1, 70], ids=str)
def test_values_with_replacement_characters_count_once_when_rows_are_printed_again(
    refused: int,
) -> None:
    """The last row has a value that compiled code leaves to the readable path."""
    columns = (
        DescribedColumn("id", "bigint", nullable=False),
        DescribedColumn("g", "varchar", (30,), charset="gbk"),
        DescribedColumn("u", "varchar", (30,), charset=UTF8),
    )
    table = copied_table(TABLE, DescribedTable(columns, ("id",), UTF8, ()), mariadb=False)
    rows = [(b"%d" % number, b"\xff", b"x") for number in range(refused)]
    rows.append((b"99", b"\xff", b"\xff"))
    plan = table_plan(table_definition(table.map), TABLE, "orders", 7)
    bulk = BulkRows()
    bulk.use(table, _with_printer(plan, plan_printer(plan)))
    moment = CopyMoment(BinlogPosition("b.000007", 9), OrderPair(1, 99), 3, 1, 7, 2)
    source = {"host": "h", "user": "u", "server_id": 7}
    instance = InstanceSettings.model_validate({"name": "x", "source": source})
    messages = CopiedMessages(instance, table, plan, moment)
    assert bulk.printed(rows, messages) is None
    made = [each for row in rows for each in messages.of(table.row(row))]
    printed = sum((each.value or b"").decode().count('�"') for each in made)
    assert plan.take_undecodable() == printed == refused + 2


def test_the_identity_of_a_copied_row_does_not_show_a_key_that_rules_may_hide() -> None:
    """The id of its message is a digest of the identity and of values that readers have."""
    table = table_of(DescribedColumn("n", "int"))
    refinement: Any = SimpleNamespace(takes=lambda _: False, pairs=None)
    moment = CopyMoment(BinlogPosition("b.000007", 9), OrderPair(1, 99), 3, 1, 7, 2)
    source = {"host": "h", "user": "u", "server_id": 7}
    instance = InstanceSettings.model_validate({"name": "x", "source": source})
    plan = table_plan(table_definition(table.map), TABLE, "orders", 7)
    messages = CopiedMessages(instance, table, replace(plan, refinement=refinement), moment)
    identities = []
    for key in (b"4711", b"4712", b"4711"):
        messages.of(table.row((key, b"5")))
        identities.append(messages.context.frame.copied_row)
    assert identities[0] != identities[1]
    assert identities[0] == identities[2]
    assert not any(b"471" in each for each in identities)
