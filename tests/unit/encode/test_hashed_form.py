"""A table with other columns keeps equal keys in their partitions, or its form says that it does
not.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import PartitionTexts, hashed_form
from relay.encode.texts.key_text import key_text
from relay.model.column_families import FLOATS
from relay.model.records.hashed_forms import ONE_MORE, admitted, agreed
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import Value
from relay.partition import TablePartitioning

_CODECS = {
    "latin1": "cp1252",
    "latin2": "iso8859_2",
    "utf8": "utf-8",
    "utf8mb4": "utf-8",
    "gbk": "gbk",
    "ascii": "ascii",
    "utf16": "utf-16-be",
    "ucs2": "utf-16-be",
}
_LABELS = ("a", "b", "é", "7")


def text_column(charset: str, type_: ColumnType = ColumnType.VARCHAR) -> tuple[Column, str]:
    text = "text" if type_ is ColumnType.BLOB else "varchar(99)"
    return Column("k", type_, nullable=False, length=99, charset=charset), text


def labelled(*labels: str) -> tuple[Column, str]:
    return Column("k", ColumnType.ENUM, nullable=False, labels=labels), "enum"


INTEGER = (Column("k", ColumnType.LONG, nullable=False), "int(11)")
ZERO_FILLED = (Column("k", ColumnType.LONG, nullable=False), "int(3) zerofill")
DOUBLE = (Column("k", ColumnType.DOUBLE, nullable=False), "double")
_OTHERS = [
    INTEGER,
    ZERO_FILLED,
    (Column("k", ColumnType.NEWDECIMAL, nullable=False, length=10), "decimal(10,0)"),
    (Column("k", ColumnType.NEWDECIMAL, nullable=False, length=10, scale=1), "decimal(10,1)"),
    DOUBLE,
    (Column("k", ColumnType.FLOAT, nullable=False), "float"),
    (Column("k", ColumnType.STRING, nullable=False, length=16, charset="binary"), "uuid"),
    (Column("k", ColumnType.VARCHAR, nullable=False, length=16, charset="binary"), "varbinary(16)"),
    labelled(*_LABELS),
    labelled(*_LABELS[:3]),
    labelled(*_LABELS, "new"),
    labelled(*reversed(_LABELS)),
]
COLUMNS = [
    *map(text_column, _CODECS),
    text_column("latin1", ColumnType.BLOB),
    text_column("utf8mb4", ColumnType.BLOB),
    *_OTHERS,
]
_UUID = "0199aaaa-0000-7000-8000-00000000001f"
TEXTS = st.one_of(
    st.sampled_from([*_LABELS, "0", "12", "007", "5.0", "1.5", "1234", _UUID]), st.text(max_size=6)
)


def of(columns: Sequence[tuple[Column, str]]) -> TableDefinition:
    table = TableMap(TableId("d", "t"), tuple(column for column, _ in columns))
    return TableDefinition(table, tuple(range(len(columns))), tuple(text for _, text in columns))


def value_of(column: Column, text: str) -> Value:
    """The value that a column has to print as `text`; None where it has none."""
    if column.type is ColumnType.STRING:
        return UUID(text).bytes if text == _UUID else None
    if column.charset == "binary":
        return bytes_of_base64(text)
    if column.charset is not None:
        try:
            return text.encode(_CODECS[column.charset])
        except UnicodeEncodeError:
            return None
    if column.scale:
        return text if text in ("5.0", "1.5") else None
    if column.type is ColumnType.ENUM:
        return column.labels.index(text) + 1 if text in column.labels else None
    if not (text.isascii() and text.isdigit()):
        return None
    return float(text) if column.type in FLOATS else int(text)


def bytes_of_base64(text: str) -> bytes | None:
    """The bytes that are printed as `text`, None where it is no base64."""
    try:
        found = b64decode(text, validate=True)
    except ValueError:
        return None
    return found if b64encode(found).decode() == text else None


def printed(column: tuple[Column, str], text: str) -> tuple[object, int] | None:
    """The key's text and the partition of a row, None where the column cannot have it."""
    value = value_of(column[0], text)
    if value is None:
        return None
    definition = of([column])
    partitioning = TablePartitioning((0,), 0, 1 << 30)
    key = key_text(*column, lambda: None)(value)
    return key, partitioning.partition_of(PartitionTexts(definition, (0,)).of((value,)))


@given(TEXTS, st.sampled_from(COLUMNS), st.sampled_from(COLUMNS))
def test_equal_keys_have_one_partition_in_all_forms_that_are_taken_for_one(
    text: str, before: tuple[Column, str], after: tuple[Column, str]
) -> None:
    one, other = printed(before, text), printed(after, text)
    if one is None or other is None or one[0] != other[0]:
        return
    if admitted((form(before),), form(after)) is not None:
        assert one[1] == other[1]


@given(TEXTS, st.lists(st.sampled_from(COLUMNS), min_size=3, max_size=4))
def test_a_form_is_compared_with_all_that_were_taken_for_one(
    text: str, columns: list[tuple[Column, str]]
) -> None:
    known: tuple[str, ...] | None = ()
    placed = set()
    for each in columns:
        assert known is not None
        known = admitted(known, form(each))
        if known is None:
            return
        if (row := printed(each, text)) is not None:
            placed.add(row)
    assert len(placed) == len({key for key, _ in placed})


@pytest.mark.parametrize(
    "charsets",
    [
        ("utf8", "ascii", "latin1"),
        ("ascii", "utf8", "latin1"),
        ("gbk", "ascii", "utf8"),
        ("big5", "ascii", "gbk"),
    ],
)
def test_ascii_between_two_character_sets_admits_no_third_one(charsets: tuple[str, ...]) -> None:
    first, second, third = charsets
    known = admitted(admitted((), first) or (), second) or ()
    assert known == (max(first, second, key=lambda each: each != "ascii"),)
    assert admitted(known, third) is None
    assert agreed(known, (third,), third) is None


def form(*columns: tuple[Column, str]) -> str:
    return hashed_form(of(columns), range(len(columns)), named=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (text_column("latin1"), text_column("utf8mb4")),
        (text_column("utf8mb4"), text_column("latin1")),
        (text_column("latin1"), text_column("gbk")),
        (labelled("a", "b"), labelled("b", "a")),
        (labelled("a", "b"), text_column("utf8")),
        (INTEGER, DOUBLE),
        (DOUBLE, INTEGER),
        (INTEGER, labelled("7", "8")),
        (text_column("ascii"), labelled("a", "b")),
        (text_column("ascii"), ZERO_FILLED),
    ],
)
def test_another_form_is_not_taken_until_it_is_accepted_once(
    before: tuple[Column, str], after: tuple[Column, str]
) -> None:
    known, now = admitted((), form(before)), form(after)
    assert known == (form(before),)
    assert admitted(known, now) is None
    accepted = admitted((*known, ONE_MORE), now)
    assert accepted == (*known, now)
    assert admitted(accepted, form(before)) == accepted
    assert admitted(accepted, form(text_column("utf16"))) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (text_column("utf8"), text_column("utf8mb4")),
        (text_column("utf8mb4"), text_column("utf8mb4", ColumnType.BLOB)),
        (labelled("a", "b"), labelled("a", "b", "c")),
        (INTEGER, text_column("utf8")),
        (INTEGER, ZERO_FILLED),
        (text_column("ascii"), text_column("latin1")),
    ],
)
def test_a_change_that_moves_no_key_is_taken(
    before: tuple[Column, str], after: tuple[Column, str]
) -> None:
    known = admitted((), form(before))
    assert known is not None
    assert admitted(known, form(after)) == (form(after),)


def test_columns_of_a_key_are_compared_one_by_one_and_keys_of_other_columns_are_others() -> None:
    number, latin1, utf8 = _OTHERS[0], text_column("latin1"), text_column("utf8")
    known = admitted((), form(number, latin1))
    assert known == ("-,latin1",)
    assert admitted(known, form(text_column("ascii"), latin1)) == ("ascii,latin1",)
    assert admitted(known, form(utf8, latin1)) == ("utf8,latin1",)
    assert admitted(known, form(number, utf8)) is None
    assert admitted(known, form(utf8)) == ("-,latin1", "utf8")
    assert (form(number), form(text_column("ascii"))) == ("-", "ascii")


def test_instances_of_one_topic_agree_on_forms_or_an_operator_accepts_the_second_one() -> None:
    assert agreed((), (), "latin1") == ("latin1",)
    assert agreed(("latin1",), ("utf8",), "utf8") is None
    accepted = ("latin1", "utf8")
    assert agreed(("latin1",), accepted, "utf8") == accepted
    assert agreed(accepted, ("latin1",), "latin1") == accepted
    assert agreed((), accepted, "utf8") == ("utf8",), "nodes were lost"
    assert agreed(("latin1", "koi8r"), accepted, "utf8") is None
    assert agreed(("-,latin1",), (), "utf8") == ("-,latin1", "utf8"), "no key is a key of both"


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["-", "utf8", "latin1", "double"])), max_size=8
    )
)
def test_forms_of_two_instances_that_differ_were_accepted(
    steps: list[tuple[bool, str]],
) -> None:
    """Each step publishes rows of one instance in a form, if both rules take it."""
    topic: tuple[str, ...] = ()
    own: dict[bool, tuple[str, ...]] = {False: (), True: ()}
    for instance, form_ in steps:
        mine = admitted(own[instance], form_)
        if mine is None or (now := agreed(topic, mine, form_)) is None:
            continue
        own[instance], topic = mine, now
    for one in own[False]:
        assert all(admitted((one,), other) for other in own[True])


def test_columns_that_a_rule_names_are_compared_with_names_and_decimals() -> None:
    columns = [_OTHERS[2], text_column("utf8")]
    definition = of(columns)
    known = hashed_form(definition, (0, 1), named=True)
    finer = replace(columns[0][0], scale=2)
    renamed = replace(columns[1][0], name="other")
    for changed in ([(finer, "decimal(10,2)"), columns[1]], [columns[0], (renamed, "x")]):
        assert admitted((known,), hashed_form(of(changed), (0, 1), named=True)) is None
    assert admitted((known,), hashed_form(definition, (0,), named=True)) is None
    assert admitted((known,), known) == (known,)
