"""`roma relay`, `roma api` and `roma status`: run the processes, and show their state."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import zookeeper
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import ListedInstance

JsonLog: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Write the log and standard output as one JSON object a line, whatever log.format "
        "says.",
    ),
]


@app.command()
def relay(config: ConfigFile, as_json: JsonLog = False) -> None:
    """Publish the row changes of the configured instances until SIGTERM."""
    with told_errors():
        settings = settings_of(config)
        from relay.app import run
        from relay.service import with_json_log

        raise typer.Exit(run(with_json_log(settings) if as_json else settings, config))


@app.command()
def api(config: ConfigFile, as_json: JsonLog = False) -> None:
    """Serve the admin: mapping documents, instances, health."""
    _become_service("api", config, as_json=as_json)


@app.command()
def canal_server(config: ConfigFile, as_json: JsonLog = False) -> None:
    """Serve clients of Canal from the topics (`[canal_server]`) until SIGTERM."""
    _become_service("canal_server", config, as_json=as_json)


def _become_service(package: str, config: Path, *, as_json: bool) -> None:
    import runpy
    import sys

    with told_errors():
        settings_of(config)
    sys.argv = [package, "--config", str(config), *(["--json"] if as_json else [])]
    runpy.run_module(package, run_name="__main__", alter_sys=True)


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
    """Print the instances that `found` returns: once, or with `watch` every second until Ctrl-C.

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
