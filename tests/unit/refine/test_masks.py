"""What is masked leaves no trace of its value, and keys stay apart."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import KeyEncoder, MessageFrame, RowEncoder, exact_text, whole_text
from relay.errors import ConfigurationError, RuleRefused
from relay.model.change import RowChange
from relay.model.table import Column, ColumnType, TableDefinition, TableMap
from relay.model.value import ABSENT
from relay.refine import Refinements
from tests.support.conditions import NAMES, REAL, row
from tests.unit.refine.tables import LOGICAL, instance, published, refinement

SALT = "a salt of sixteen"
FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5)


def hashed(columns: str) -> dict[str, str]:
    return {"columns": columns, "method": "hash", "salt": SALT}


def digest(text: str) -> bytes:
    return hmac.digest(SALT.encode(), text.encode(), "sha256").hex().encode()


def test_a_hash_is_that_of_the_text_whatever_the_column_holds() -> None:
    names = ("id", "email", "name", "price", "state", "doc", "made", "raw")
    refined = refinement(masks=[hashed("shop_.*\\.customer\\..*")])
    ((_, after),) = published(
        refined,
        RowChange(
            None,
            row(
                email=b"a@b",
                name="M\u00fcller".encode("latin-1"),
                price="1.50",
                state=2,
                raw=b"\x00",
            ),
        ),
    )
    assert after is not None
    assert [after[name] for name in names] == [
        *map(digest, ("1", "a@b", "Müller", "1.50", "sold")),
        None,
        None,
        digest("AA=="),
    ]
    assert set(refined.published.type_texts) == {"varchar(64)"}


@given(st.binary(max_size=4), st.binary(max_size=4))
def test_keys_that_differ_stay_apart_even_where_their_bytes_are_no_characters(
    one: bytes, other: bytes
) -> None:
    definition = TableDefinition(
        TableMap(
            REAL,
            (Column("k", ColumnType.VARCHAR, nullable=False, length=40, charset="utf8mb4"),),
            (0,),
        ),
        (0,),
        ("varchar(10)",),
    )
    refined = refinement(definition=definition, masks=[hashed(".*\\.k")])
    first, second = (refined.shown(RowChange(None, (each,))) for each in (one, other))
    assert (first == second) == (one == other)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_keys_that_the_server_prints_alike_have_hashes_of_their_own(value: float) -> None:
    column = Column("k", ColumnType.FLOAT, nullable=False, length=4)
    definition = TableDefinition(TableMap(REAL, (column, column), (0,)), (0,), ("float", "float"))
    asked = instance(masks=[hashed(".*\\.k")])
    refined = Refinements(asked, {}).of(definition, LOGICAL, exact_text, whole_text)
    assert refined is not None
    key, other = refined.shown(RowChange(None, (value, value))).after or ()
    assert key == digest(whole_text(column, "float", lambda: None)(value))
    assert other == digest(exact_text(column, "float", lambda: None)(value))


@pytest.mark.parametrize(
    "mask",
    [
        {"method": "truncate", "length": 2},
        {"method": "replace", "value": "x"},
        {"method": "replace"},
    ],
)
def test_a_key_takes_a_hash_alone(mask: dict[str, object]) -> None:
    with pytest.raises(RuleRefused, match="only a hash keeps keys apart"):
        refinement(masks=[{"columns": "shop_.*\\.customer\\.id", **mask}])


def test_texts_are_cut_by_characters() -> None:
    refined = refinement(
        masks=[{"columns": ".*\\.(name|email)", "method": "truncate", "length": 2}]
    )
    ((_, after),) = published(
        refined, RowChange(None, row(name="M\u00fcller".encode("latin-1"), email=None))
    )
    assert after is not None
    assert (after["name"], after["email"]) == ("M\u00fc".encode(), None)


def test_only_texts_can_be_cut() -> None:
    with pytest.raises(RuleRefused, match="which is not a text column"):
        refinement(masks=[{"columns": ".*\\.price", "method": "truncate", "length": 2}])


def test_a_replacement_stands_for_null_too_and_for_nothing_that_is_absent() -> None:
    refined = refinement(
        masks=[
            {"columns": ".*\\.email", "method": "replace", "value": "***"},
            {"columns": ".*\\.(price|email)", "method": "replace"},
        ]
    )
    made = [
        published(refined, RowChange(None, row(email=email, price="1.00")))[0][1]
        for email in (b"a", None, ABSENT)
    ]
    assert [each and (each["email"], each["price"]) for each in made] == [
        (b"***", None),
        (b"***", None),
        (ABSENT, None),
    ]
    types = dict(zip(NAMES, refined.published.type_texts, strict=True))
    assert (types["email"], types["price"]) == ("varchar(3)", "decimal(10,2)")


@pytest.mark.parametrize("style", ["exact", "canal"])
def test_messages_and_keys_of_masked_rows_can_be_printed(style: str) -> None:
    refined = refinement(
        masks=[
            hashed(".*\\.(id|email|price|doc)"),
            {"columns": ".*\\.name", "method": "replace", "value": "x"},
        ]
    )
    shown = refined.shown(
        RowChange(row(email=b"a@b", price="1.00"), row(email=b"c@d", price="1.00"))
    )
    value = RowEncoder(refined.published, LOGICAL, style).encode((shown,), FRAME)  # type: ignore[arg-type]
    assert (
        KeyEncoder(refined.published, LOGICAL).encode(shown)
        == b'["shop.customer","' + digest("1") + b'"]'
    )
    assert digest("c@d") in value
    assert b'"old":[{"email":"' + digest("a@b") + b'"}]' in value
    assert b"a@b" not in value


def test_what_is_hidden_is_known() -> None:
    refined = refinement(
        masks=[hashed(".*\\.email")], rules=[{"tables": ".*", "without_fields": ["price"]}]
    )
    assert [name for ordinal, name in enumerate(NAMES) if refined.hides(ordinal)] == [
        "email",
        "price",
    ]


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ({"columns": "a", "method": "hash", "salt": "short"}, "fewer than 16 characters"),
        ({"columns": "a(", "method": "replace"}, "is not a regular expression"),
    ],
)
def test_masks_that_hide_nothing_are_refused(mask: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Refinements(instance(masks=[mask]), {})


@pytest.mark.parametrize(
    "mask",
    [
        {"columns": "", "method": "replace"},
        {"columns": "a", "method": "hash"},
        {"columns": "a", "method": "truncate", "salt": SALT},
        {"columns": "a", "method": "hash", "salt": SALT, "value": "x"},
    ],
)
def test_settings_of_masks_say_what_they_need(mask: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="masks"):
        instance(masks=[mask])


def test_the_printers_of_values_are_those_of_messages() -> None:
    assert (
        exact_text(
            refinement(masks=[hashed(".*\\.id")]).published.map.columns[0],
            "varchar(64)",
            lambda: None,
        )(b"ab")
        == "ab"
    )
