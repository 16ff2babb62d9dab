"""Table maps: names, keys, charsets, labels, and what the optional fields may leave out."""

from dataclasses import replace

import pytest

from relay.charsets.collations import charset_of_collation
from relay.decode import parse_table_map
from relay.errors import CorruptEvent, UnsupportedEvent
from relay.model.table import ColumnType, Logged, TableId
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, with_length

T = ColumnType
ID = WrittenColumn(T.LONG, name="id", nullable=False, unsigned=True)


def test_names_are_utf8_of_any_script() -> None:
    table = WrittenTable(
        (WrittenColumn(T.LONG, name="中文`ü€", unsigned=False),), database="库", table="we`ird\n表"
    )
    parsed = parse_table_map(table.map_body(), mariadb=True)
    assert parsed.id == TableId("库", "we`ird\n表")
    assert parsed.columns[0].name == "中文`ü€"


def test_two_columns_of_one_name_are_refused() -> None:
    """A message holds each name once."""
    table = WrittenTable(
        (ID, ID), named=False, extra_fields=bytes([4]) + with_length(with_length(b"a") * 2)
    )
    with pytest.raises(CorruptEvent, match="two columns have one name"):
        parse_table_map(table.map_body(), mariadb=False)


def test_year_counts_among_the_signed_columns() -> None:
    columns = (
        WrittenColumn(T.YEAR, unsigned=True),
        WrittenColumn(T.LONG, unsigned=False),
        WrittenColumn(T.TINY, unsigned=True),
    )
    parsed = parse_table_map(WrittenTable(columns).map_body(), mariadb=False)
    assert [column.unsigned for column in parsed.columns] == [True, False, True]


@pytest.mark.parametrize(("table", "key"), [
    (WrittenTable((ID, ID, ID), primary_key=(2, 0)), (2, 0)),
    (WrittenTable((ID, ID, ID), prefix_key=((2, 0), (1, 5))), (2, 1)),
    (WrittenTable((ID, ID, ID)), ()),
])  # fmt: skip
def test_the_key_keeps_its_order_and_a_prefix_key_is_a_key(
    table: WrittenTable, key: tuple[int, ...]
) -> None:
    assert parse_table_map(table.map_body(), mariadb=False).primary_key == key


def test_default_charset_holds_where_no_pair_says_otherwise() -> None:
    texts = tuple(WrittenColumn(T.VARCHAR, b"\x10\x00", name=f"c{i}") for i in range(3))
    table = WrittenTable(texts, extra_fields=bytes([2]) + with_length(b"\x2d\x01\x3f"))
    assert [c.charset for c in parse_table_map(table.map_body(), mariadb=False).columns] == [
        "utf8mb4",
        "binary",
        "utf8mb4",
    ]


def test_mariadb_counts_geometry_among_the_character_columns() -> None:
    columns = (
        WrittenColumn(T.GEOMETRY, b"\x04", collation=63),
        WrittenColumn(T.VARCHAR, b"\x10\x00", collation=8),
    )
    parsed = parse_table_map(WrittenTable(columns).map_body(), mariadb=True)
    assert [c.charset for c in parsed.columns] == [None, "latin1"]
    with pytest.raises(CorruptEvent):
        parse_table_map(WrittenTable(columns).map_body(), mariadb=False)


def test_mysql_counts_vectors_among_the_character_columns() -> None:
    texts = tuple(WrittenColumn(T.VARCHAR, b"\x10\x00", name=f"c{i}") for i in range(2))
    table = WrittenTable(
        (WrittenColumn(T.VECTOR, b"\x04", name="v"), *texts),
        extra_fields=bytes([3]) + with_length(b"\x3f\x08\x2d"),
    )
    assert [c.charset for c in parse_table_map(table.map_body(), mariadb=False).columns] == [
        None,
        "latin1",
        "utf8mb4",
    ]
    shorter = WrittenTable(
        table.columns, extra_fields=bytes([2]) + with_length(b"\x2d\x00\x3f\x02\x08")
    )
    assert [c.charset for c in parse_table_map(shorter.map_body(), mariadb=False).columns] == [
        None,
        "utf8mb4",
        "latin1",
    ]


def test_labels_without_their_charset_are_not_guessed_at() -> None:
    """MySQL 8.0.12 logs names and labels, and no character set of the labels: c3 a9 may be é or
    Ã©.
    """
    fields = bytes([6]) + with_length(b"\x01" + with_length(b"\xc3\xa9"))
    table = WrittenTable((WrittenColumn(T.STRING, b"\xf7\x01"),), extra_fields=fields)
    parsed = parse_table_map(table.map_body(), mariadb=False)
    assert parsed.columns[0].labels == ()
    assert (
        parsed.unknown == "its table map carries no character set for the labels of an ENUM or SET"
    )


def test_labels_are_texts_of_the_columns_own_charset() -> None:
    def labelled(collation: bytes, label: bytes) -> tuple[str, ...]:
        fields = (
            bytes([6])
            + with_length(b"\x01" + with_length(label))
            + bytes([11])
            + with_length(collation)
        )
        table = WrittenTable((WrittenColumn(T.STRING, b"\xf7\x01"),), extra_fields=fields)
        return parse_table_map(table.map_body(), mariadb=False).columns[0].labels

    assert labelled(b"\x08", b"caf\xe9\x81\x80") == ("café\x81€",)
    assert labelled(b"\x1c", "中".encode("gbk")) == ("中",)
    assert labelled(b"\x36", "é".encode("utf-16-be")) == ("é",)
    assert labelled(b"\x0a", b"@[") == ("ÉÄ",)  # swe7
    assert labelled(b"\x01", b"\xf9\xd6") == ("碁",)  # big5 with the characters of ETEN
    with pytest.raises(CorruptEvent, match="not valid utf8mb4 text"):
        labelled(b"\x2d", b"\xff")


def test_invisible_columns_are_marked() -> None:
    table = WrittenTable((ID, ID), extra_fields=bytes([12]) + with_length(b"\x40"))
    assert [c.visible for c in parse_table_map(table.map_body(), mariadb=False).columns] == [
        False,
        True,
    ]


def test_unknown_optional_fields_are_stepped_over() -> None:
    table = WrittenTable((ID,), extra_fields=bytes([200]) + with_length(b"\xff" * 300))
    assert parse_table_map(table.map_body(), mariadb=False).columns[0].name == "id"


def test_without_names_a_map_says_so_and_what_was_logged() -> None:
    whole = parse_table_map(WrittenTable((ID,)).map_body(), mariadb=False)
    assert (whole.logged, whole.unknown) == (Logged.FULL, "")
    assert parse_table_map(WrittenTable((ID, ID, ID), named=False).map_body(), mariadb=True).unknown
    bare = parse_table_map(WrittenTable((ID,), named=False).map_body(), mariadb=False)
    assert bare.logged is not Logged.FULL
    assert bare.unknown == "its table map carries no column names"
    assert [replace(column, name="id") for column in bare.columns] == list(whole.columns)


def test_unknown_types_and_collations_ask_for_an_upgrade() -> None:
    with pytest.raises(UnsupportedEvent, match="type 200"):
        parse_table_map(WrittenTable((WrittenColumn(200),)).map_body(), mariadb=False)
    with pytest.raises(UnsupportedEvent, match="collation 500"):
        parse_table_map(
            WrittenTable((WrittenColumn(T.VARCHAR, b"\x10\x00", collation=500),)).map_body(),
            mariadb=False,
        )


@pytest.mark.parametrize(
    ("number", "charset"),
    [
        (8, "latin1"),
        (63, "binary"),
        (255, "utf8mb4"),
        (309, "utf8mb4"),
        (1069, "utf8mb4"),
        (2048, "utf8mb3"),
        (2304, "utf8mb4"),
        (3072, "utf32"),
        (500, None),
    ],
)
def test_collation_numbers_name_their_charset(number: int, charset: str | None) -> None:
    assert charset_of_collation(number) == charset
