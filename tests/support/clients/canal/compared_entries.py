"""Row events of two servers of Canal's protocol, compared field by field."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from canal_server.wire import EntryKind
from canal_server.wire.schema import MESSAGES
from tests.support.clients.canal.java_client import read_entries
from tests.support.clients.canal.real_canal import VerbProcess
from tests.support.waiting import wait_until


class Event(NamedTuple):
    """A row event or a statement."""

    header: Any
    change: Any

    @property
    def name(self) -> tuple[int, str]:
        """The name of an event that is the same on both servers: its time and its table."""
        return self.header.executeTime, self.header.tableName


def entries_until(reader: VerbProcess, is_last: Callable[[Any], bool]) -> list[Any]:
    """Read and acknowledge entries up to one."""
    found: list[Any] = []

    def done() -> bool:
        batch = read_entries(reader.say("entries", 1000, 200))
        if batch.id != -1:
            reader.say("ack", batch.id)
        found.extend(batch.entries)
        return any(map(is_last, batch.entries))

    wait_until(done, "the last entry", 120)
    return found


def events(entries: Sequence[Any], schema: str) -> Iterator[Event]:
    """Yield the events of a schema."""
    for entry in entries:
        if entry.entryType == EntryKind.ROW_DATA and entry.header.schemaName == schema:
            yield Event(entry.header, MESSAGES["RowChange"].FromString(entry.storeValue))


def differences(left: Event, right: Event) -> Iterator[str]:
    """Yield the fields that differ, those of columns as `table.column.field`."""
    yield from _fields("header", left.header, right.header)
    yield from _fields("change", left.change, right.change)
    rows = zip(left.change.rowDatas, right.change.rowDatas, strict=True)
    for one, other in rows:
        for image in ("beforeColumns", "afterColumns"):
            columns = zip(getattr(one, image), getattr(other, image), strict=True)
            for a, b in columns:
                yield from _fields(f"{left.header.tableName}.{a.name}", a, b)


def _fields(place: str, left: Any, right: Any) -> Iterator[str]:
    for field in left.DESCRIPTOR.fields:
        if field.name == "rowDatas":
            continue
        if getattr(left, field.name) != getattr(right, field.name) or (
            field.has_presence and left.HasField(field.name) != right.HasField(field.name)
        ):
            yield f"{place}.{field.name}"
