"""`roma instance`: pause, resume, restart, throttle and retire an instance."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import InstanceFlow

instance = typer.Typer(no_args_is_help=True, help="Pause, resume, start again, throttle, retire.")
app.add_typer(instance, name="instance")

Name: TypeAlias = Annotated[str, typer.Argument(help="The instance's name.")]
_LIMIT_HELP = (
    "largest number in a second; 0: no limit; not given: the limit of the configuration file"
)


@instance.command("pause")
def pause(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Pause an instance.

    It commits the open transaction and stays the leader. No change is lost while it is paused.
    """
    with _flow_of(name, config) as flow:
        flow.pause(who_does(actor, comment))
        fields(instance=name, paused=True)
        typer.echo(f"{name} is paused.")


@instance.command("resume")
def resume(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Resume a paused instance."""
    with _flow_of(name, config) as flow:
        flow.resume(who_does(actor, comment))
        fields(instance=name, paused=False)
        typer.echo(f"{name} continues.")


@instance.command("start")
def start(name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Restart a stopped instance with the settings that its relay has loaded."""
    with _flow_of(name, config) as flow:
        flow.start(who_does(actor, comment))
        fields(instance=name)
        typer.echo(f"{name} starts again.")


@instance.command("retire")
def retire(
    name: Name, config: ConfigFile, comment: Comment = "", actor: Actor = None, yes: Yes = None
) -> None:
    """Remove an instance that will never publish again from its topics. --yes names the
    installation.

    Mapping edits and other instances no longer wait for it.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import Retirement

        with zookeeper(settings) as session:
            retirement = Retirement(settings, name, session)
            topics = retirement.topics()
            fields(instance=name, topics=list(topics))
            typer.echo(f"{name} publishes to {', '.join(topics) or 'no topic'}.")
            confirm(settings.installation, yes)
            retirement.carry_out(who_does(actor, comment))
        typer.echo(f"{name} is retired.")


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
    """Set both rate limits of a running instance."""
    with _flow_of(name, config) as flow:
        flow.throttle(who_does(actor, comment), rows, size_bytes)
        fields(instance=name, rows_per_second=rows, bytes_per_second=size_bytes)
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
