"""`roma snapshot`: copy tables into their topics beside the live stream."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import Actor, Comment, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import ShownSnapshot, Snapshots, Who
    from relay.state import SnapshotRequest

snapshot = typer.Typer(
    no_args_is_help=True, help="Copy tables into their topics beside the live stream."
)
app.add_typer(snapshot, name="snapshot")

Number: TypeAlias = Annotated[str, typer.Argument(help="The request, as `list` shows it.")]
OneInstance: TypeAlias = Annotated[
    str, typer.Option("--instance", help="Only this instance; default: all.")
]


@snapshot.command("start")
def start(
    tables: Annotated[
        list[str], typer.Argument(help="Logical names: database.table; * matches any text.")
    ],
    config: ConfigFile,
    where: Annotated[
        str, typer.Option("--where", help="Only rows for which this SQL condition holds.")
    ] = "",
    instance: Annotated[
        list[str] | None, typer.Option("--instance", help="Only these instances; may be repeated.")
    ] = None,
    to_topic: Annotated[
        str,
        typer.Option("--to-topic", help="Publish to this topic instead of those of the mapping."),
    ] = "",
    rows: Annotated[
        int, typer.Option("--rows", min=0, help="Largest number of rows per second; 0: no limit.")
    ] = 0,
    priority: Annotated[
        int, typer.Option("--priority", help="Requests with a greater number are executed first.")
    ] = 0,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Copy tables into their topics while the live stream continues."""
    with _snapshots(config) as snapshots:
        from relay.operations import WantedSnapshot

        wanted = WantedSnapshot(tuple(tables), where, to_topic, rows, priority)
        _say(snapshots.start(who_does(actor, comment), wanted, instance or ()), "is requested of")


@snapshot.command("repair")
def repair(
    config: ConfigFile,
    table: Annotated[str, typer.Argument(help="The logical name: database.table.")] = "",
    keys: Annotated[
        list[str] | None,
        typer.Option("--keys", help="A key: its text, or a message's key; may be repeated."),
    ] = None,
    keys_from: Annotated[
        Path | None,
        typer.Option(
            "--keys-from", exists=True, dir_okay=False, help="A file with one such key a line."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", exists=True, dir_okay=False, help="What `roma reconcile --json` printed."
        ),
    ] = None,
    instance: Annotated[
        list[str] | None, typer.Option("--instance", help="Only these instances; may be repeated.")
    ] = None,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Publish the current rows of the given keys again. A key without a row gets no message."""
    if report is not None:
        if table or keys or keys_from is not None:
            raise typer.BadParameter(
                "--report already names tables and keys: leave out the "
                "table, --keys and --keys-from."
            )
        _repair_report(report, config, instance or [], who_does(actor, comment))
        return
    if not table:
        raise typer.BadParameter("Give a table, or --report.")
    lines = [] if keys_from is None else keys_from.read_text(encoding="utf-8").splitlines()
    if not any(each.strip() for each in [*(keys or ()), *lines]):
        raise typer.BadParameter("Give keys with --keys or --keys-from.")
    with _snapshots(config) as snapshots:
        from relay.operations import repair_of_keys

        wanted = repair_of_keys(table, [*(keys or ()), *lines])
        _say(snapshots.start(who_does(actor, comment), wanted, instance or ()), "is requested of")


def _repair_report(report: Path, config: Path, instances: list[str], who: "Who") -> None:
    """Request the repair of every row that a report names. Print the rows that no request can
    repair.
    """
    with _snapshots(config) as snapshots:
        from relay.operations import repair_plan

        plan = repair_plan(report.read_bytes())
        started = snapshots.start_all(who, plan.wanted, instances)
    fields(requests=_named(started.made), under_way=_named(started.under_way))
    for each in started.made:
        number = len(each.keys)
        typer.echo(f"{each.id} is requested of {each.instance}: {number} keys of {each.tables[0]}.")
    for each in started.under_way:
        typer.echo(f"Request {each.id} of {each.instance} already publishes these keys.")
    for sentence in plan.left_out:
        typer.echo(sentence)
    if not plan.wanted:
        typer.echo("The report names no row that can be published again.")


@snapshot.command("list")
def show(
    config: ConfigFile,
    instance: OneInstance = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, one request a line.")
    ] = False,
) -> None:
    """Show all requests with their progress, for each instance in execution order."""
    with _snapshots(config) as snapshots:
        found = snapshots.shown(instance)
    if as_json:
        _print_json(found)
    elif found:
        for each in found:
            typer.echo(_line(each))
    else:
        typer.echo("No snapshot was requested.")


@snapshot.command("pause")
def pause(
    number: Number,
    config: ConfigFile,
    instance: OneInstance = "",
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Pause a request."""
    with _snapshots(config) as snapshots:
        _say(snapshots.pause(who_does(actor, comment), number, instance), "of", "is paused")


@snapshot.command("resume")
def resume(
    number: Number,
    config: ConfigFile,
    instance: OneInstance = "",
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Let a paused request continue from its last published chunk."""
    with _snapshots(config) as snapshots:
        _say(snapshots.resume(who_does(actor, comment), number, instance), "of", "continues")


@snapshot.command("cancel")
def cancel(
    number: Number,
    config: ConfigFile,
    instance: OneInstance = "",
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Cancel a request. Rows that are already published remain."""
    with _snapshots(config) as snapshots:
        _say(snapshots.cancel(who_does(actor, comment), number, instance), "of", "is cancelled")


@contextmanager
def _snapshots(config: Path) -> Iterator["Snapshots"]:
    with told_errors():
        settings = settings_of(config)
        from relay.operations import Snapshots

        with zookeeper(settings) as session:
            yield Snapshots(settings, session)


def _say(requests: "Iterable[SnapshotRequest]", relation: str, done: str = "") -> None:
    """Print a sentence for each request."""
    found = list(requests)
    fields(requests=_named(found))
    for each in found:
        typer.echo(f"{each.id} {relation} {each.instance} {done}".rstrip() + ".")


def _named(requests: "Iterable[SnapshotRequest]") -> list[dict[str, str]]:
    return [{"id": each.id, "instance": each.instance} for each in requests]


def _print_json(found: "list[ShownSnapshot]") -> None:
    import orjson

    for each in found:
        fields = {**each.request.to_fields(), "progress": each.progress, "lost": each.lost}
        typer.echo(orjson.dumps(fields).decode())


def _line(shown: "ShownSnapshot") -> str:
    request, progress = shown.request, shown.progress
    if shown.lost:
        return (
            f"{request.id}  {request.instance}  LOST  The position record has its progress, but "
            "ZooKeeper has no such request; `roma snapshot cancel` removes the progress."
        )
    parts = [request.id, request.instance, request.state.value, ", ".join(request.tables)]
    if progress:
        from relay.operations import progress_sentence

        parts.append(progress_sentence(progress))
    elif request.state.ended:
        parts += [f"{request.rows} rows", request.reason]
    return "  ".join(filter(None, parts))
