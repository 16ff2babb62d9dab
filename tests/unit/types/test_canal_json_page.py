"""docs/canal-json.md: every column type has a type of Flink that takes its texts, by the rules of
Flink's parsers.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest

DOCS: Final = Path(__file__).parents[3] / "docs"
_INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def _integer(text: str, bits: int) -> None:
    if not -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1):
        raise ValueError(text)


def _timestamp(text: str) -> None:
    """`yyyy-MM-dd HH:mm:ss` and up to nine digits of a fraction; no zone."""
    day, _, rest = text.partition(" ")
    whole, _, fraction = rest.partition(".")
    date.fromisoformat(day)
    time.fromisoformat(whole)
    if not re.fullmatch(r"\d\d:\d\d:\d\d", whole) or (
        fraction and not re.fullmatch(r"\d{1,9}", fraction)
    ):
        raise ValueError(text)


def _decimal(text: str) -> None:
    if len(Decimal(text).as_tuple().digits) > 38:
        raise ValueError(text)


PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    "DECIMAL(20, 0)": lambda text: None if 0 <= int(text) < 10**20 else _integer(text, 0),
    "DECIMAL(p, s)": _decimal,
    "FLOAT": float,
    "DOUBLE": float,
    "DATE": date.fromisoformat,
    "TIMESTAMP(n)": _timestamp,
    "STRING": str,
    "BYTES": lambda text: base64.b64decode(text, validate=True),
}
NOT_TAKEN: Final = re.compile(r"\d{4}-00-|\d{4}-\d\d-00")


def declared() -> Mapping[str, str]:
    """MySQL's type, without lengths → Flink's, as the page says."""
    page = (
        (DOCS / "canal-json.md").read_text(encoding="utf-8").partition("## Flink and SeaTunnel")[2]
    )
    rows = re.findall(r"^\| (`[^|]+`) \| `([^`|]+)` \| `[^`|]+` \|", page, re.MULTILINE)
    return {name: flink for names, flink in rows for name in re.findall(r"`([^`]+)`", names)}


def published() -> Iterator[tuple[str, str]]:
    """Column type and exact text of every line of docs/types.md."""
    page = (DOCS / "types.md").read_text(encoding="utf-8")
    for kind, text in re.findall(
        r"^\| `((?:[^`])+)` \| `(?:[^`|]|\\\|)*` \| (`[^`]*`|empty) \| .* \| \S", page, re.MULTILINE
    ):
        yield kind, "" if text == "empty" else text[1:-1]


def _base(kind: str) -> str:
    bare = re.sub(r"\([^)]*\)| ZEROFILL| COMPRESSED| CHARACTER SET \w+", "", kind)
    return "BINARY" if "CHARACTER SET binary" in kind else bare


def _fits(flink: str, text: str) -> None:
    if flink in _INTEGERS:
        _integer(text, _INTEGERS[flink])
    else:
        PARSERS[flink](text)


def test_every_type_that_is_published_is_on_the_page() -> None:
    known, found = declared(), {_base(kind) for kind, _ in published()}
    assert len(found) > 30
    assert {each for each in found if each not in known} <= {"GEOMETRYCOLLECTION"}


def test_flink_takes_every_text() -> None:
    known = declared()
    refused = []
    for kind, text in published():
        flink = "DECIMAL(20, 0)" if kind == "BIT(64)" else known.get(_base(kind), "BYTES")
        try:
            _fits(flink, text)
        except (ValueError, ArithmeticError):
            refused.append((kind, text))
    assert [
        each
        for each in refused
        if not NOT_TAKEN.match(each[1]) and not each[0].startswith("DECIMAL(65")
    ] == []
    assert any(NOT_TAKEN.match(text) for _, text in refused)


def test_a_timestamp_has_no_zone_which_flinks_timestamp_ltz_would_demand() -> None:
    texts = [
        text
        for kind, text in published()
        if _base(kind) == "TIMESTAMP" and not NOT_TAKEN.match(text)
    ]
    assert texts
    assert not any(text.endswith("Z") for text in texts)
    assert all(datetime.fromisoformat(text).tzinfo is None for text in texts)


@pytest.mark.parametrize(
    "text", ["2024-02-29 12:34:56Z", "2024-02-29T12:34:56", "0000-00-00 00:00:00"]
)
def test_the_rules_refuse_what_flink_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        _timestamp(text)
