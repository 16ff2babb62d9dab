"""`roma relay`, `roma api` and `roma status`: run the processes, and show their state."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.confirm import zookeeper
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import ListedInstance


@app.command()
def relay(config: ConfigFile) -> None:
    """Publish the row changes of the configured instances until SIGTERM."""
    with told_errors():
        settings = settings_of(config)
        from relay.app import run

        raise typer.Exit(run(settings, config))


@app.command()
def api(config: ConfigFile) -> None:
    """Serve the admin: mapping documents, instances, health."""
    import runpy

    with told_errors():
        settings_of(config)
    sys.argv = ["api", "--config", str(config)]
    runpy.run_module("api", run_name="__main__", alter_sys=True)


@app.command()
def canal_server(config: ConfigFile) -> None:
    """Serve clients of Canal from the topics (`[canal_server]`) until SIGTERM."""
    import runpy

    with told_errors():
        settings_of(config)
    sys.argv = ["canal_server", "--config", str(config)]
    runpy.run_module("canal_server", run_name="__main__", alter_sys=True)


@app.command()
def status(
    config: ConfigFile,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again every second.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line for machines.")
    ] = False,
) -> None:
    """Show the state of every instance, its position, and the reason if it does not publish."""
    with told_errors():
        settings = settings_of(config)
        from relay.operations import InstanceList

        with zookeeper(settings) as session:
            show_instances(InstanceList(settings, session).all, watch=watch, as_json=as_json)


def show_instances(
    found: "Callable[[], Sequence[ListedInstance]]", *, watch: bool, as_json: bool
) -> None:
    """Print the instances once, or every second until Ctrl-C.

    A terminal is redrawn. Other outputs get one table after the other.
    """
    from rich.console import Console
    from rich.live import Live

    from relay.status_table import StatusView

    console = Console()
    if not watch:
        _print_json(found()) if as_json else console.print(StatusView(found()))
    elif as_json:
        _each_second(lambda: _print_json(found()))
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            _each_second(lambda: live.update(StatusView(found()), refresh=True))
    else:
        _each_second(lambda: console.print(StatusView(found())))


def _each_second(show: Callable[[], None]) -> None:
    """Call `show` every second until Ctrl-C. While ZooKeeper does not answer, print that
    instead.
    """
    from threading import Event

    from relay.errors import StoreUnreachable

    with suppress(KeyboardInterrupt):
        while True:
            try:
                show()
            except StoreUnreachable as exc:
                typer.echo(str(exc), err=True)
            Event().wait(1)


def _print_json(found: "Sequence[ListedInstance]") -> None:
    import json

    for each in found:
        typer.echo(
            json.dumps(
                {**each.status.to_fields(), "relay_alive": each.relay_alive}, ensure_ascii=False
            )
        )
