"""Copies single rows, which an operator names by the keys that messages have."""

from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Final

import orjson

from relay.errors import SnapshotRefused
from relay.model.change import RowChange
from relay.model.message import OutboundMessage
from relay.model.source_rows.columns import BYTES, TEXTS, SourceColumn
from relay.model.source_rows.texts import key_equals
from relay.pipeline.messages.table_plan import TablePlan
from relay.schema import CopiedTable

_NO_ROW: Final = "FALSE"
"""The condition where all keys name rows of other shards."""
_BY_CONDITION: Final = "Name the rows by a condition: `roma snapshot start --where`."
_REMEDY: Final = "Name each key by the texts of its columns, in key order, as messages have them."


def keys_condition(
    table: CopiedTable, keys: Sequence[Sequence[str]], *, shard_in_keys: bool
) -> str:
    """Return the SQL condition for the rows with these keys; "" without keys.

    With `shard_in_keys` (`key_scope = "shard"`) a key may begin with a real table; it then names a
    row of that table only. Raises SnapshotRefused for a key that the table cannot have.
    """
    if shard_in_keys:
        named, keys = keys, _of_shard(table, keys)
        if named and not keys:
            return _NO_ROW
    conditions = []
    for key in keys:
        if len(key) != len(table.key):
            raise SnapshotRefused(
                f"The key {list(key)} has {len(key)} columns, and that of {table.map.id} has "
                f"{len(table.key)}.",
                remedy=_REMEDY,
            )
        try:
            texts = [_boundary(column, text) for column, text in zip(table.key, key, strict=True)]
            conditions.append(f"({key_equals(table.key, texts)})")
        except ValueError as exc:
            raise SnapshotRefused(
                f"{list(key)} is not a key of {table.map.id}: {exc}.", remedy=_REMEDY
            ) from exc
    return " OR ".join(conditions)


def check_shown_keys(
    table: CopiedTable, keys: Sequence[Sequence[str]], hides: Callable[[int], bool]
) -> None:
    """Raise SnapshotRefused if a request names keys, but messages do not show a key column as the
    source has it.

    Such a message key would find no row at the source. `hides` returns True if the column with the
    given ordinal is hidden or masked.
    """
    hidden = [name for name, at in zip(table.key_names, table.ordinals, strict=True) if hides(at)]
    if keys and hidden:
        raise SnapshotRefused(
            f"Messages of {table.map.id} do not show {', '.join(hidden)} of its key as the source "
            "has it, so keys name no row of it.",
            remedy=_BY_CONDITION,
        )


def check_kept_key(table: CopiedTable, plan: TablePlan) -> None:
    """Raise SnapshotRefused if a transform gives the messages of a table other key columns than the
    source has.
    """
    columns = plan.definition.map.columns
    names = [columns[at].name for at in plan.definition.key]
    if names != list(table.key_names):
        raise SnapshotRefused(
            f"Messages of {table.map.id} have the key ({', '.join(names)}), which a transform "
            "makes: keys name no row of the source.",
            remedy=_BY_CONDITION,
        )


def check_kept_keys(
    table: CopiedTable, plan: TablePlan, row: RowChange, made: Sequence[OutboundMessage]
) -> None:
    """Raise SnapshotRefused if no message of a row has the row's own key.

    table  the table
    plan   how it is published
    row    the row
    made   the messages of the row

    If no message has that key, the transform changes keys. An operator requests rows by the keys of
    messages, and such a key may be the key of another row of the source.
    """
    if plan.refinement is None or not made:
        return
    key = _key_of_message(plan, row)
    if all(each.key != key for each in made):
        raise SnapshotRefused(
            f"A transform changes the keys of {table.map.id}: a key of a message names no row of "
            "the source.",
            remedy=_BY_CONDITION,
        )


def other_keys(
    table: CopiedTable, plan: TablePlan, keys: Sequence[Sequence[str]], rows: Sequence[RowChange]
) -> list[str]:
    """Return one text for each row: "" if the request names the row by the key that its message
    has, otherwise that key.

    table  the table
    plan   how it is published
    keys   the requested keys
    rows   the rows that the source found by these keys

    The keys can differ, because the source compares them by collation and type: the requested key
    `ABC` or `007` finds the row `abc` or `7`.
    """
    named = set(map(tuple, keys))
    found = []
    for row in rows:
        key = _key_of_message(plan, row) or b"[]"
        parts = tuple(map(str, orjson.loads(key)))
        # A key of one shard begins with the name of the real table, which a request may omit.
        is_named = not named.isdisjoint((parts[1:], parts[-len(table.key) :]))
        found.append("" if is_named or not parts else key.decode())
    return found


def _key_of_message(plan: TablePlan, row: RowChange) -> bytes | None:
    """Return the key that a message of a copied row has without a transform of keys."""
    if plan.refinement is None or row.after is None:
        return plan.keys.encode(row)
    added = len(plan.definition.map.columns) - len(row.after)
    return plan.keys.encode(plan.refinement.shown(RowChange(None, (*row.after, *(None,) * added))))


def _of_shard(table: CopiedTable, keys: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the keys that may name rows of this table, without the name of the shard."""
    found = []
    for key in keys:
        if len(key) != len(table.key) + 1:
            found.append(key)
        elif key[0] == str(table.map.id):
            found.append(key[1:])
    return found


def _boundary(column: SourceColumn, text: str) -> str:
    """Return the text that a literal is made of, from that of a message."""
    if column.kind in TEXTS:
        return text.encode().hex().upper()
    if column.kind in BYTES:
        return b64decode(text, validate=True).hex().upper()
    return text
