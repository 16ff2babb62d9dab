"""What a reader made of a column of docs/types.md, as a word for the table of readers."""

import json
import math
import re
from base64 import b64encode
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

_PAGE: Final = Path(__file__).parents[3] / "docs" / "canal-json.md"
_HEAD: Final = "| MySQL, MariaDB | Flink | SeaTunnel | not accepted |"
_INTEGERS: Final = ("TINYINT", "BOOL", "SMALLINT", "MEDIUMINT", "INT", "BIGINT")
_NUMBERS: Final = frozenset({*_INTEGERS, "BIT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR"})
_TIMES: Final = frozenset({"DATE", "DATETIME", "TIMESTAMP", "TIME"})
_CHARACTERS: Final = frozenset({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"})
_BYTES: Final = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
_OWN: Final = {
    **dict.fromkeys(_CHARACTERS, ("STRING",)),
    **dict.fromkeys(_BYTES, ("BYTES",)),
    **dict.fromkeys(_INTEGERS, ("TINYINT", "SMALLINT", "INT", "BIGINT")),
    "DECIMAL": ("DECIMAL",),
    "FLOAT": ("FLOAT",),
    "DOUBLE": ("DOUBLE",),
    "DATE": ("DATE",),
    "DATETIME": ("TIMESTAMP",),
    "TIMESTAMP": ("TIMESTAMP",),
}
"""Types of readers that are those of a column, by its base type."""
_CLOSE: Final = {"FLOAT": 1e-5, "DOUBLE": 0.0}
"""How far a floating number may be from the server's text, which has six digits of a FLOAT."""
MOST_DIGITS: Final = 38
"""Digits of a DECIMAL of Flink."""


def base_of(declared: str) -> str:
    """Return the name of a column type without its length and attributes."""
    if declared.endswith("CHARACTER SET binary"):
        return "VARBINARY"
    return re.split(r"[ (]", declared, maxsplit=1)[0]


def flink_type(declared: str) -> str:
    """Return the type that docs/canal-json.md says to declare."""
    types = _page_types()
    base = base_of(declared)
    found = types.get(f"{base} UNSIGNED" if "UNSIGNED" in declared else base) or types[base]
    numbers = re.search(r"\(([\d, ]+)\)", declared)
    if found == "DECIMAL(p, s)":
        digits, scale = (numbers[1] if numbers else "10,0").split(",")
        return "STRING" if int(digits) > MOST_DIGITS else f"DECIMAL({digits}, {scale})"
    if found == "TIMESTAMP(n)":
        return f"TIMESTAMP({numbers[1] if numbers else 0})"
    return "DECIMAL(20, 0)" if declared == "BIT(64)" else found


def verdict(declared: str, truth: str, read: list[tuple[str, bytes | None]]) -> str:
    """Return `exact TYPE`, `text`, `other TYPE` or `refused` of the first type that gave the value.

    `read` are types of the reader and the value as it gave it; `truth` is the server's text.
    """
    for kind, value in read:
        if value is not None and same(declared, truth, kind, value):
            base = base_of(declared)
            if kind.partition("(")[0] in _OWN.get(base, ()):
                return f"exact {kind}"
            return "text" if kind == "STRING" else f"other {kind}"
    return "refused"


def same(declared: str, truth: str, kind: str, value: bytes) -> bool:
    """Whether a reader's value is that of the server."""
    if kind == "BYTES":
        return b64encode(value).decode() == truth
    text, base = value.decode(), base_of(declared)
    if text == truth:
        return True
    if base in _CLOSE:
        return math.isclose(float(text), float(truth), rel_tol=_CLOSE[base])
    if base in _NUMBERS:
        return _number(text) == _number(truth) is not None
    if base in _TIMES and kind != "STRING":
        return _moment(text) == _moment(truth) is not None
    if base == "SET":
        return ",".join(json.loads(text)) == truth if text.startswith("[") else False
    return base == "JSON" and _document(text) == _document(truth)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _document(text: str) -> object:
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError:
        return text


def _page_types() -> dict[str, str]:
    """Return the Flink type by column type, as the page says."""
    lines = _PAGE.read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines[lines.index(_HEAD) + 2 :]:
        if not line.startswith("|"):
            break
        columns, flink, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        for name in columns.split(","):
            found[name.strip().strip("`")] = flink.strip("`")
    return found
