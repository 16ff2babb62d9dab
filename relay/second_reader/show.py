"""Prints events of both readers: the library's text, and the relay's result for the same event."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relay.encode import MessageFrame, RowEncoder, exact_text
from relay.errors import RelayError
from relay.model.change import RowsEvent, Statement
from relay.model.table import Logged, TableDefinition, TableId
from relay.refine import Refinements
from relay.route import Destination, Router, TableFilter, where
from relay.schema import TableDefinitions
from relay.second_reader.library import COMPRESSED
from relay.second_reader.pairs import Pair
from relay.settings import InstanceSettings

_ROWS_SHOWN: Final = 20
_REFINED: Final = (
    "(rules, masks or transforms of the instance apply to these rows before they are published: "
    "docs/filters.md)"
)
_VERSIONED: Final = (
    "(current rows and history rows are distinguished when they are published: "
    "docs/message-format.md)"
)


class Shown(NamedTuple):
    """The data with which the relay's events are printed: the instance, its mapping, and its
    source's tables.
    """

    instance: InstanceSettings
    router: Router
    definitions: TableDefinitions

    def refines(self, definition: TableDefinition, logical: TableId) -> bool:
        """Return whether rules, masks or transforms apply to the table.

        Raises ConfigurationError.
        """
        refinements = Refinements.without_answers(self.instance)
        return refinements.of(definition, logical, exact_text) is not None


def shown_pairs(found: Iterable[Pair], means: Shown) -> Iterator[str]:
    """Yield a text for each pair of events. Raises the errors of reading the pairs."""
    for own, library in found:
        position = (
            own.position if own is not None else library.position if library is not None else None
        )
        lines = [f"── {position or 'no coordinates'}"]
        if library is not None:
            lines += [f"library  {line}" for line in library.text.splitlines()]
        elif own is not None:
            lines.append("library  (nothing)")
        if own is not None:
            lines += [f"relay    {line}" for line in _own_lines(own.content, means)]
        elif library is not None and library.table is not None:
            lines.append("relay    (nothing: the source rolled these rows back)")
        elif library is not None and library.passed_over in COMPRESSED:
            lines.append("relay    (nothing)")
        yield "\n".join(lines)


def _own_lines(content: RowsEvent | Statement, means: Shown) -> Iterator[str]:
    if isinstance(content, Statement):
        ddl = means.definitions.apply(content)
        tables = ", ".join(map(str, ddl.tables)) or "no table"
        yield (
            f"statement of kind {ddl.kind or 'IGNORED (not published)'}, "
            f"{'DDL' if ddl.is_ddl else 'rows as text'}, naming {tables}"
        )
        return
    yield f"{content.operation}, {len(content.rows)} rows; {_fate(content, means)}"
    yield from _values(content, means)


def _fate(event: RowsEvent, means: Shown) -> str:
    if not TableFilter(means.instance.filter).accepts(event.table.id):
        return f"{event.table.id} is left out: the instance's filter does not let it pass."
    if not TableFilter(means.instance.filter).accepts_operation(event.operation):
        return f"left out: filter.operations has no {event.operation}."
    return where(means.router, event.table.id)


def _values(event: RowsEvent, means: Shown) -> Iterator[str]:
    """Yield the rows as messages contain them. Rules, masks and transforms are not applied, only
    mentioned.
    """
    if event.table.logged is not Logged.FULL:
        yield "(the binlog has no column names here; the relay takes the names from its history)"
        return
    try:
        route = means.router.route(event.table.id)
        name = route.logical if isinstance(route, Destination) else event.table.id
        definition = means.definitions.define(event.table)
        if means.refines(definition, name):
            yield _REFINED
        if definition.versions is not None:
            yield _VERSIONED
        encoder = RowEncoder(definition, name, means.instance.message.value_style)
        frame = MessageFrame(
            event_time_ms=event.header_time_s * 1000, gtid="", batch=0, publish_time_ms=0
        )
        for change in event.rows[:_ROWS_SHOWN]:
            yield encoder.encode([change], frame).decode()
    except RelayError as exc:
        yield str(exc)
    if len(event.rows) > _ROWS_SHOWN:
        yield f"… and {len(event.rows) - _ROWS_SHOWN} more rows"
