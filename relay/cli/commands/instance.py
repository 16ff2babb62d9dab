"""`roma instance`: pause, resume, start again and throttle an instance."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import Actor, Comment, who_does, zookeeper
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import InstanceFlow

instance = typer.Typer(no_args_is_help=True, help="Pause, resume, start again and throttle.")
app.add_typer(instance, name="instance")

Name: TypeAlias = Annotated[str, typer.Argument(help="The instance's name.")]
_LIMIT_HELP = "at most so many a second; 0: no limit; left out: as the configuration file says"


@instance.command("pause")
def pause(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Let an instance stand still: it commits what is whole, and keeps its place of the election.

    Nothing is lost meanwhile.
    """
    with _flow_of(name, config) as flow:
        flow.pause(who_does(actor, comment))
        typer.echo(f"{name} is paused.")


@instance.command("resume")
def resume(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Let a paused instance go on."""
    with _flow_of(name, config) as flow:
        flow.resume(who_does(actor, comment))
        typer.echo(f"{name} goes on.")


@instance.command("start")
def start(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Start a stopped instance again, with the settings that its relay has."""
    with _flow_of(name, config) as flow:
        flow.start(who_does(actor, comment))
        typer.echo(f"{name} starts again.")


@instance.command("throttle")
def throttle(
    name: Name,
    config: ConfigFile,
    rows: Annotated[int | None, typer.Option("--rows", min=0, help=f"Rows, {_LIMIT_HELP}.")] = None,
    size_bytes: Annotated[
        int | None, typer.Option("--bytes", min=0, help=f"Bytes of row events, {_LIMIT_HELP}.")
    ] = None,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Set the limits of an instance, both of them, while it runs."""
    with _flow_of(name, config) as flow:
        flow.throttle(who_does(actor, comment), rows, size_bytes)
        typer.echo(f"{name}: {_limit(rows, 'rows/s')}, {_limit(size_bytes, 'bytes/s')}.")


def _limit(limit: int | None, unit: str) -> str:
    if limit is None:
        return f"{unit} as the configuration file says"
    return f"{limit} {unit}" if limit else f"{unit} without a limit"


@contextmanager
def _flow_of(name: str, config: Path) -> Iterator["InstanceFlow"]:
    with told_errors():
        settings = settings_of(config)
        from relay.operations import InstanceFlow

        with zookeeper(settings) as session:
            yield InstanceFlow(settings, name, session)
