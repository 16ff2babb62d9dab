"""Which printer writes a table's rows, and why the slow one does."""

from itertools import combinations
from typing import Any

import pytest

from relay.compiled import CODE, COMPILED, MODULES, Facts, slow_reason
from relay.compiled.choice import compiled_code
from relay.model.row_path import RowPath, SlowReason

# In the order in which they are asked: the first that applies is the reason.
FACTS: list[tuple[dict[str, Any], SlowReason]] = [
    ({"row_printer": "readable"}, SlowReason.SETTING),
    ({"value_style": "canal"}, SlowReason.VALUE_STYLE),
    ({"format_compiled": False}, SlowReason.FORMAT),
    ({"tombstones": True}, SlowReason.TOMBSTONES),
    ({"refined": True}, SlowReason.REFINED),
    ({"field_tags": True}, SlowReason.FIELD_TAGS),
    ({"topics": 2}, SlowReason.SEVERAL_TOPICS),
    ({"topics": 0}, SlowReason.SEVERAL_TOPICS),
    ({"system_versioned": True}, SlowReason.SYSTEM_VERSIONED),
    ({"columns_known": False}, SlowReason.COLUMN),
    ({"placing_known": False}, SlowReason.PLACED_BY),
    ({"compiled": False}, SlowReason.NOT_COMPILED),
]


def test_compiled_code_prints_a_plain_table() -> None:
    assert slow_reason(Facts()) is None


@pytest.mark.parametrize(("fact", "reason"), FACTS)
def test_each_fact_has_its_reason(fact: dict[str, Any], reason: SlowReason) -> None:
    assert slow_reason(Facts(**fact)) is reason


@pytest.mark.parametrize(("first", "second"), [*combinations(FACTS, 2)])
def test_of_two_facts_the_first_is_the_reason(
    first: tuple[dict[str, Any], SlowReason], second: tuple[dict[str, Any], SlowReason]
) -> None:
    assert slow_reason(Facts(**{**second[0], **first[0]})) is first[1]


def test_every_fact_has_a_rule() -> None:
    assert {name for fact, _ in FACTS for name in fact} == set(Facts._fields)


MISSING = ModuleNotFoundError("No module named 'x'")
BROKEN = ImportError("GLIBC_2.38 not found")


@pytest.mark.parametrize(
    ("failures", "reason"),
    [
        ({"a": None, "b": None}, ""),
        ({"a": MISSING, "b": MISSING}, "this package was installed without compiled modules"),
        ({"a": None, "b": MISSING}, "compiled modules cannot be used: b: No module named 'x'"),
        ({"a": BROKEN, "b": None}, "compiled modules cannot be used: a: GLIBC_2.38 not found"),
        (
            {"a": BROKEN, "b": MISSING},
            "compiled modules cannot be used: a: GLIBC_2.38 not found; b: No module named 'x'",
        ),
    ],
)
def test_compiled_code_is_used_whole_or_not_at_all(
    failures: dict[str, ImportError | None], reason: str
) -> None:
    found = compiled_code(failures)
    assert (found.usable, found.reason) == (not reason, reason)
    assert found.path is (RowPath.READABLE if reason else RowPath.COMPILED)


def test_this_process_says_what_it_uses() -> None:
    assert (CODE.usable, bool(CODE.reason)) == (COMPILED, not COMPILED)
    assert set(MODULES) >= {"event_scanner", "row_printer", "kafka_client.block_sender"}
