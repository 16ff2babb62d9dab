"""`roma binlog`: show a range of a source's binlog as the relay decodes it, and as the Python
library mysql-replication does.
"""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import zookeeper
from relay.cli.find_instance import find_instance
from relay.cli.json_output import fields
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.second_reader import Stretch
    from relay.settings import InstanceSettings, RelaySettings

binlog = typer.Typer(
    no_args_is_help=True,
    help="Read a source's binlog with an independent reader, and compare it with the relay's.",
)
app.add_typer(binlog, name="binlog")

Instance: TypeAlias = Annotated[str, typer.Argument(help="The instance's name.")]
File: TypeAlias = Annotated[str, typer.Option("--file", help="The binlog file to begin in.")]
Offset: TypeAlias = Annotated[
    int, typer.Option("--offset", min=4, help="The offset of a transaction's first event.")
]
UntilFile: TypeAlias = Annotated[
    str | None, typer.Option("--until-file", help="The binlog file to end in; default: --file.")
]
UntilOffset: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--until-offset", min=4, help="The offset to end at; default: the end of the binlog."
    ),
]
Standby: TypeAlias = Annotated[
    bool, typer.Option("--standby", help="Read the standby instead of the source.")
]
Source: TypeAlias = Annotated[
    str | None, typer.Option("--source", help="Name of the source, for a group.")
]


@binlog.command("show")
def show(
    instance: Instance,
    config: ConfigFile,
    file: File,
    offset: Offset = 4,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Largest number of events.")] = 100,
    standby: Standby = False,
    source: Source = None,
) -> None:
    """Print events as the Python library mysql-replication reads them, each with the rows that the
    relay would publish under the active mapping.
    """
    with told_errors():
        from contextlib import closing
        from itertools import islice

        from relay.operations import active_mapping_set
        from relay.route import Router
        from relay.schema import CatalogReader, DeclaredTypes, TableDefinitions
        from relay.schema.type_text import type_text
        from relay.second_reader import Shown, pairs, shown_pairs

        settings = settings_of(config)
        known = find_instance(settings, instance, resolved=True)
        with zookeeper(settings) as session:
            router = Router(active_mapping_set(settings, session), known.routing)
        stretch = _stretch(
            settings, known, (file, offset), (None, None), standby=standby, source=source
        )
        with (
            closing(CatalogReader(stretch.settings)) as catalog,
            closing(pairs(stretch, with_statements=True)) as found,
        ):
            definitions = TableDefinitions(
                type_text,
                catalog,
                DeclaredTypes(),
                as_declared=known.message.value_style == "canal",
                marks_history=known.message.marks_history,
            )
            texts = shown_pairs(found, Shown(known, router, definitions))
            _print_events(instance, islice(texts, limit))


@binlog.command("verify")
def verify(
    instance: Instance,
    config: ConfigFile,
    file: File,
    offset: Offset = 4,
    until_file: UntilFile = None,
    until_offset: UntilOffset = None,
    standby: Standby = False,
    source: Source = None,
) -> None:
    """Read a part of a binlog with the Python library mysql-replication and with the relay, and
    compare all rows.

    Exit code 0: all rows are equal; 1: rows differ.
    """
    if until_file is not None and until_offset is None:
        raise typer.BadParameter("--until-file needs --until-offset, the offset to end at.")
    with told_errors():
        from relay.second_reader import pairs
        from relay.second_reader import verify as compare

        settings = settings_of(config)
        known = find_instance(settings, instance, resolved=True)
        stretch = _stretch(
            settings,
            known,
            (file, offset),
            (until_file, until_offset),
            standby=standby,
            source=source,
        )
        typer.echo(f"from {stretch.start} to {stretch.until}")
        report = compare(pairs(stretch))
        fields(instance=instance, different=bool(report.different), values=report.values)
        fields(differences=list(report.differences), left_out=dict(report.left_out))
        typer.echo("\n".join(report.lines()))
    raise typer.Exit(1 if report.different else 0)


def _print_events(instance: str, texts: "Iterable[str]") -> None:
    events: list[str] = []
    fields(instance=instance, events=events)
    for text in texts:
        events.append(text)
        typer.echo(text)


def _stretch(
    settings: "RelaySettings",
    known: "InstanceSettings",
    start: tuple[str, int],
    until: tuple[str | None, int | None],
    *,
    standby: bool,
    source: str | None,
) -> "Stretch":
    from relay.model.positions.position import BinlogPosition
    from relay.operations import chosen_server
    from relay.second_reader import Stretch
    from relay.source import end_of_binlog

    server = chosen_server(known, source, standby=standby)
    end = (
        end_of_binlog(server)
        if until[1] is None
        else BinlogPosition(until[0] or start[0], until[1])
    )
    return Stretch(
        server, f"{settings.installation}.{known.name}.binlog", BinlogPosition(*start), end
    )
