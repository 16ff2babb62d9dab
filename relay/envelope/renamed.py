"""The header `renamed`: the columns that an ALTER TABLE renames."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple


class ColumnRename(NamedTuple):
    """One renamed column, in the spelling of the statement.

    All renames of a statement happen at once, so two of them may swap names. `if_exists`: the
    statement renames the column only if the table has this column; the text of the statement does
    not show whether it does (MariaDB).
    """

    old: str
    new: str
    if_exists: bool = False


def renamed_text(renames: Iterable[ColumnRename]) -> str:
    """Return the header's text: a JSON array in ASCII with an object for each column."""
    return json.dumps([_fields(each) for each in renames], separators=(",", ":"))


def parse_renamed(text: str | bytes) -> tuple[ColumnRename, ...]:
    """Return the renames in a header; fields of a newer relay are ignored.

    Raises ValueError for any other text.
    """
    found = json.loads(text)
    if not isinstance(found, list):
        raise ValueError(f"{text!r} is not a renamed header")
    return tuple(_rename(each) for each in found)


def _fields(rename: ColumnRename) -> dict[str, str | bool]:
    condition: dict[str, str | bool] = {"if_exists": True} if rename.if_exists else {}
    return {**condition, "new": rename.new, "old": rename.old}


def _rename(fields: Any) -> ColumnRename:
    if not isinstance(fields, dict):
        raise ValueError(f"{fields!r} is not an entry of a renamed header")
    old, new, if_exists = fields.get("old"), fields.get("new"), fields.get("if_exists", False)
    if not isinstance(old, str) or not isinstance(new, str) or not isinstance(if_exists, bool):
        raise ValueError(f"{fields!r} is not an entry of a renamed header")
    return ColumnRename(old, new, if_exists)
