"""The digest of a transaction: the same wherever it was logged, another one for every other
change.
"""

from collections.abc import Sequence
from typing import Final

import pytest

from relay.errors import CorruptEvent
from relay.model.change import (
    RawItem,
    RawRows,
    Statement,
    TransactionBegin,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.records.transaction_digest import Digested, TransactionDigest

_INSERT_V1, _UPDATE_V1, _INSERT, _UPDATE, _DELETE = 23, 24, 30, 31, 32
_PLACE: Final = BinlogPosition("b.000001", 4)
_BEGIN: Final = TransactionBegin(_PLACE, "", None, 100)
_END: Final = TransactionEnd(_PLACE, "", SourceIdentity("", 1, 0))


def rows(
    images: bytes,
    kind: int = _INSERT,
    *,
    table: str = "t",
    number: int = 7,
    time_s: int = 100,
    columns: bytes = b"\x02\xff",
) -> RawRows:
    """A row event; `number` is what the server calls the table."""
    head = number.to_bytes(6, "little") + b"\x01\x00"
    names = b"".join(bytes([len(name)]) + name.encode() + b"\x00" for name in ("shop", table))
    extra = b"" if kind < _INSERT else b"\x02\x00"
    return RawRows(
        head + names + b"\x02\x03\x03" + head,
        head + extra + columns + images,
        kind,
        time_s,
        _PLACE,
        mariadb=False,
    )


def digested(*items: RawItem) -> Digested | None:
    digest = TransactionDigest()
    for item in (_BEGIN, *items):
        digest.take(item)
    return digest.ended()


SAME: Final[list[tuple[str, Sequence[RawItem], Sequence[RawItem]]]] = [
    ("another number of the table", [rows(b"ab")], [rows(b"ab", number=9)]),
    ("events cut elsewhere", [rows(b"ab"), rows(b"cd")], [rows(b"a"), rows(b"bcd")]),
    ("row events of the old version", [rows(b"ab")], [rows(b"ab", _INSERT_V1)]),
    (
        "another text of a statement",
        [Statement("DROP TABLE t", "", 5, _PLACE)],
        [Statement("drop TABLE IF EXISTS `t`", "d", 5, _PLACE)],
    ),
]
OTHER: Final[list[tuple[str, Sequence[RawItem], Sequence[RawItem]]]] = [
    ("a value", [rows(b"ab")], [rows(b"ac")]),
    ("the second", [rows(b"ab")], [rows(b"ab", time_s=101)]),
    ("the table", [rows(b"ab")], [rows(b"ab", table="u")]),
    ("the operation", [rows(b"ab")], [rows(b"ab", _DELETE)]),
    ("the columns", [rows(b"ab")], [rows(b"ab", columns=b"\x02\xfd")]),
    ("one row more", [rows(b"ab")], [rows(b"ab"), rows(b"ab")]),
    ("the order", [rows(b"a"), rows(b"b", _DELETE)], [rows(b"b", _DELETE), rows(b"a")]),
    ("rows of two tables or one", [rows(b"a"), rows(b"b", table="u")], [rows(b"ab")]),
    ("the step", [XaStep(XaAction.COMMIT, "x", _PLACE)], [XaStep(XaAction.ROLLBACK, "x", _PLACE)]),
    (
        "the statement",
        [Statement("DROP TABLE t", "", 5, _PLACE)],
        [Statement("CREATE TABLE t (i INT)", "", 5, _PLACE)],
    ),
    (
        "the statement's second",
        [Statement("DROP TABLE t", "", 5, _PLACE)],
        [Statement("DROP TABLE t", "", 6, _PLACE)],
    ),
]


@pytest.mark.parametrize(
    ("one", "other"), [case[1:] for case in SAME], ids=[case[0] for case in SAME]
)
def test_what_differs_between_servers_changes_nothing(
    one: Sequence[RawItem], other: Sequence[RawItem]
) -> None:
    assert digested(*one) == digested(*other)


@pytest.mark.parametrize(
    ("one", "other"), [case[1:] for case in OTHER], ids=[case[0] for case in OTHER]
)
def test_what_differs_between_transactions_changes_it(
    one: Sequence[RawItem], other: Sequence[RawItem]
) -> None:
    first, second = digested(*one), digested(*other)
    assert first is not None
    assert second is not None
    assert first.digest != second.digest


def test_updates_have_two_bitmaps_and_wide_tables_long_numbers() -> None:
    wide = b"\xfc\x2c\x01" + b"\xff" * 38
    assert digested(rows(b"ab", columns=wide), rows(b"cd", columns=wide)) == digested(
        rows(b"abcd", columns=wide)
    )
    both = b"\x02\xff\xfe"
    for kind in (_UPDATE, _UPDATE_V1):
        assert digested(
            rows(b"ab", kind, columns=both), rows(b"cd", kind, columns=both)
        ) == digested(rows(b"abcd", kind, columns=both))


def test_a_transaction_is_of_its_first_statements_second() -> None:
    first = digested(
        XaStep(XaAction.BEGIN, "x", _PLACE), rows(b"ab", time_s=98), rows(b"cd", time_s=99)
    )
    assert first is not None
    assert first.second == 98


def test_what_is_cut_short_is_named() -> None:
    whole = rows(b"ab")
    for cut in (
        whole._replace(body=whole.body[:10]),
        whole._replace(table_map=whole.table_map[:12]),
    ):
        with pytest.raises(CorruptEvent, match=r"b\.000001:4"):
            digested(cut)
    assert digested(Statement(" ", "", 5, _PLACE)) is not None


def test_nothing_is_left_of_the_transaction_before() -> None:
    digest, seen = TransactionDigest(), []
    for _ in range(2):
        for item in (_BEGIN, rows(b"ab"), _END):
            digest.take(item)
        seen.append(digest.ended())
    assert seen == [digested(rows(b"ab"))] * 2
    digest.take(_BEGIN)
    assert digest.ended() is None
