"""Converts the row of a change into Canal's columns."""

from collections.abc import Callable
from typing import Any

from canal_server.entries.value_types import sql_type
from canal_server.wire.schema import MESSAGES
from roma_client.records.change import Change, Operation, Texts


def row_data(change: Change) -> Any:
    """Return the RowData of a change: the columns after an insert, before a delete, both for an
    update.

    Columns that the binlog did not contain are missing, as in Canal's RowData.
    """
    row = MESSAGES["RowData"]()
    if change.before_texts is not None:
        _fill(row.beforeColumns, change, change.before_texts, lambda _name: False)
    if change.after_texts is not None:
        is_insert = change.operation is Operation.INSERT
        _fill(
            row.afterColumns,
            change,
            change.after_texts,
            lambda name: is_insert or name in change.changed,
        )
    return row


def _fill(columns: Any, change: Change, texts: Texts, is_updated: Callable[[str], bool]) -> None:
    """Add the columns of one image. Their indexes are those in the table, as in Canal."""
    names = dict.fromkeys((*change.types, *texts))
    indexes = {name: index for index, name in enumerate(names)}
    for name, text in texts.items():
        column = columns.add(
            index=indexes[name],
            sqlType=sql_type(change.sql_types.get(name, 0), change.types.get(name, ""), text),
            name=name,
            isKey=name in change.key_columns,
            updated=is_updated(name),
            isNull=text is None,
            mysqlType=change.types.get(name, ""),
        )
        if text is not None:
            column.value = text
