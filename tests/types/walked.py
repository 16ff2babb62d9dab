"""The packages of the relay over a stretch of a real server's binlog: every row, in every way that
it can be printed.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import orjson

from deploy.embedded import SqlServer
from relay.compiled import COMPILED
from relay.decode import RowDecoder
from relay.encode import MessageFrame, RowEncoder
from relay.model.change import Operation, RawRows, RowsEvent, Statement
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableDefinition, TableId
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.schema import CatalogReader, DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import MessageSettings
from tests.support.rows.table_plans import TOPIC, plan_printer, table_plan
from tests.support.sources.source_reading import read, source_settings

Texts = dict[str, str | None]

_FRAME: Final = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=0)
_BEFORE: Final = OrderPair(0, 0)


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """One message's row: what happened, the texts in both styles, the former texts, the key, and
    what its headers say besides the order.
    """

    table: TableId
    operation: Operation
    exact: Texts
    canal: Texts
    old: Texts
    key: list[str] | None
    headers: dict[str, bytes]


def printed_rows(
    server: SqlServer, start: BinlogPosition, target: BinlogPosition, **message: Any
) -> Iterator[PrintedRow]:
    """Yield the rows between two places, as `message` settings print them.

    Both printers must agree on each event.
    """
    settings = MessageSettings(**message)
    with closing(CatalogReader(source_settings(server))) as catalog:
        exact = TableDefinitions(
            type_text, catalog, DeclaredTypes(), marks_history=settings.marks_history
        )
        canal = TableDefinitions(type_text, catalog, DeclaredTypes(), as_declared=True)
        decoder = RowDecoder()
        for item in read(source_settings(server), start, target):
            if isinstance(item, Statement):
                exact.apply(item)
                canal.apply(item)
            elif isinstance(item, RawRows):
                event = decoder.decode(item)
                yield from _of_event(
                    event, exact.define(event.table), canal.define(event.table), settings
                )


def _of_event(
    event: RowsEvent, exact: TableDefinition, canal: TableDefinition, settings: MessageSettings
) -> Iterator[PrintedRow]:
    plan = table_plan(exact, event.table.id, "t", 7)
    messages = [
        each
        for _, some in row_messages(event, plan, settings, EventContext(_FRAME, None), _BEFORE, 0)
        for each in some
    ]
    if COMPILED:
        assert _in_bulk(event, plan) in (None, messages), (
            f"the printers disagree about {event.table.id} at {event.position}"
        )
    in_canals_words = orjson.loads(
        RowEncoder(canal, event.table.id, "canal").encode(event.rows, _FRAME)
    )["data"]
    for number, message in enumerate(messages):
        value = orjson.loads(message.value or b"")
        yield PrintedRow(
            event.table.id,
            Operation(value["type"]),
            value["data"][0],
            in_canals_words[number] if len(messages) == len(in_canals_words) else {},
            (value["old"] or [{}])[0],
            None if message.key is None else orjson.loads(message.key),
            dict(message.headers[1:]),
        )


def _in_bulk(event: RowsEvent, plan: TablePlan) -> list[Any] | None:
    """What compiled code makes of the event; None where it leaves it to the readable packages."""
    if (
        event.images_at is None
        or plan.history is not None
        or any("COMPRESSED" in column.type.name for column in event.table.columns)
    ):
        return None
    done, _, printed, _, _ = plan_printer(plan).messages(
        [event], _FRAME, _BEFORE, 0, plan.printed_headers
    )
    return list(printed.each(TOPIC)) if done else None
