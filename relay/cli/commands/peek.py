"""`roma peek`: messages of a logical table as they are published."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.confirm import Actor, Comment, delayed_trail, who_does, zookeeper
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import Peek, PeekedColumn, PeekedRow, PeekQuestion, PeekTables
    from relay.settings import RelaySettings


@app.command("peek")
def peek(
    table: Annotated[str, typer.Argument(help="The logical table: shop.orders")],
    config: ConfigFile,
    key: Annotated[
        str,
        typer.Option("--key", help="Only rows whose key contains this text."),
    ] = "",
    start: Annotated[
        str,
        typer.Option(
            "--from",
            help="now, last (the newest 50 first), a span (15m), or a time with its zone.",
        ),
    ] = "now",
    operation: Annotated[
        str, typer.Option("--op", help="Only this operation: INSERT, UPDATE or DELETE.")
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for rows until Ctrl-C.")
    ] = True,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Show rows of a logical table as they are published, without a consumer group.

    Without --key at most 5 rows a second are shown. Columns that a mask or rule of an instance
    hides never appear. The command writes an audit entry.
    """
    with told_errors():
        settings = settings_of(config)
        who = who_does(actor, comment)
        question = _question(table, operation, key, start)
        with _opened(settings, question) as found, delayed_trail(settings) as acts:
            from relay.audit import AuditEntry

            after = {"table": table, "values": True, "key_filter": bool(key)}
            acts.note(AuditEntry(who.name, "table.peeked", "", {}, after, who.comment))
            for row in _rows(found, follow=follow):
                print_json(row.fields()) if as_json else typer.echo(_line(row))


def _question(table: str, operation: str, key: str, start: str) -> "PeekQuestion":
    from time import time

    from relay.model.table import TableId
    from relay.operations import PeekQuestion, peek_start

    if operation not in ("", "INSERT", "UPDATE", "DELETE"):
        raise typer.BadParameter(f"--op {operation!r} is not INSERT, UPDATE or DELETE.")
    try:
        begins = peek_start(start, int(time() * 1000))
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc
    database, _, name = table.partition(".")
    return PeekQuestion(TableId(database, name), operation, key, begins)


@contextmanager
def _opened(settings: "RelaySettings", question: "PeekQuestion") -> "Iterator[Peek]":
    from relay.operations import Peek

    tables = peek_tables(settings)
    found = Peek(settings.kafka, tables.reader(tables.table(str(question.table))), question)
    try:
        yield found
    finally:
        found.close()


def peek_tables(settings: "RelaySettings") -> "PeekTables":
    """Return the logical tables that can be read, with the masks and rules of all instances.

    Raises MappingRefused, StoreUnreachable.
    """
    from relay.model.table import tables_named
    from relay.operations import PeekTables, active_mapping_set, defined_instances
    from relay.state import InstanceStore, Paths

    with zookeeper(settings) as session:
        notes = InstanceStore(session, Paths.of(settings.zookeeper, settings.installation))
        return PeekTables(
            active_mapping_set(settings, session),
            defined_instances(settings, session).settings,
            lambda instance: tables_named(notes.tables_of(instance)),
        )


def _rows(found: "Peek", *, follow: bool) -> "Iterator[PeekedRow]":
    """Yield rows until Ctrl-C. Without `follow`, yield only the existing rows, the oldest first."""
    from time import sleep

    if not follow:
        yield from reversed(found.page().rows)
        return
    yield from found.start().rows
    try:
        while True:
            yield from found.poll().rows
            if found.rests:
                sleep(0.2)
    except KeyboardInterrupt:
        return


def _line(row: "PeekedRow") -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(row.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    key = "hidden" if row.key_hidden else row.key_text or "no key"
    if row.claim:
        return f"{moment} UTC  {row.operation}  {key}  {row.claim}"
    shown = [each for each in row.columns if row.operation != "UPDATE" or each.changed]
    return f"{moment} UTC  {row.operation}  {key}  {'  '.join(map(_column, shown))}"


def _column(column: "PeekedColumn") -> str:
    """Return the column with its new value for an insert or update, with its former value for a
    delete.
    """
    if column.hidden:
        return f"{column.name}=***"
    texts = ["NULL" if each is None else repr(each) for each in (column.before, column.after)]
    told = f"{texts[0]} to {texts[1]}" if column.changed else texts[column.after is not None]
    return f"{column.name}={told}"
