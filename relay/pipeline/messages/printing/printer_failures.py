"""Makes the errors for bugs of the printers, with the events that reproduce them."""

import traceback
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

from relay.decode import LazyRows
from relay.errors import PrinterFailed
from relay.model.change import RowsEvent
from relay.model.table import Column

MOST_EVENTS_KEPT: Final = 16
"""The largest number of row events in one report.

One event is enough to reproduce most bugs. Of whole transactions, the first events are kept.
"""


def printer_failed(
    events: Sequence[RowsEvent],
    where: str,
    error: BaseException | None = None,
    *,
    masked: bool = False,
) -> PrinterFailed:
    """Return the error for a bug of a printer, with the data that reproduces it.

    events  the events that were printed
    where   words for the message: the place of the bug
    error   the exception; None: the fast printer refused rows that the readable path could print
    masked  True: the table has rules, masks or transforms, so its values must not be written to
            disk
    """
    first = events[0]
    what = (
        f"raised {type(error).__name__}"
        if error is not None
        else "refused rows that the readable path prints"
    )
    reason = f"A bug: {where} {what} for a row event of {first.table.id} at {first.position}."
    return PrinterFailed(reason, {} if masked else _evidence(events, reason, error))


def _evidence(
    events: Sequence[RowsEvent], reason: str, error: BaseException | None
) -> dict[str, Any]:
    return {
        "reason": reason,
        "traceback": "".join(traceback.format_exception(error)) if error is not None else "",
        "table": str(events[0].table.id),
        "columns": [_column(each) for each in events[0].table.columns],
        "events": [_event(each) for each in events],
    }


def _column(column: Column) -> dict[str, object]:
    return {
        "name": column.name,
        "type": column.type.name,
        "nullable": column.nullable,
        "charset": column.charset,
    }


def _event(event: RowsEvent) -> dict[str, object]:
    rows = event.rows
    logged: dict[str, object] = {
        "position": str(event.position),
        "header_time_s": event.header_time_s,
        "operation": event.operation.value,
    }
    if not isinstance(rows, LazyRows):
        return logged | {"body": _base64(event.body)}
    raw = rows.raw
    return logged | {
        "type_code": raw.type_code,
        "mariadb": raw.mariadb,
        "table_map": _base64(raw.table_map),
        "body": _base64(raw.body),
    }


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")
