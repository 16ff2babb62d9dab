"""The command line: `roma`. Heavy imports stand inside the commands, so that `roma --help` answers at once."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from relay.errors import ConfigurationError, RelayError
from relay.settings import RelaySettings, load_settings

app = typer.Typer(name="roma", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
position = typer.Typer(no_args_is_help=True, help="Positions and the order pair.")
app.add_typer(position, name="position")

ConfigFile = Annotated[Path, typer.Option("--config", help="The configuration file (TOML).")]


@app.command()
def relay(config: ConfigFile) -> None:
    """Publish the row changes of the configured instances until SIGTERM."""
    with told_errors():
        settings = load_settings(config)
        from relay.app import run

        raise typer.Exit(run(settings))


@app.command()
def api(config: ConfigFile) -> None:
    """Serve the admin: mapping documents, instances, health."""
    import runpy

    with told_errors():
        load_settings(config)
    sys.argv = ["api", "--config", str(config)]
    runpy.run_module("api", run_name="__main__", alter_sys=True)


@app.command()
def status(config: ConfigFile, watch: Annotated[bool, typer.Option("--watch", help="Show it again every second.")] = False) -> None:
    """Show what every instance does, where it is and why it stands still."""
    with told_errors():
        settings = load_settings(config)
        _show_status(settings, watch)


@position.command("decode")
def decode(number: int) -> None:
    """Print the parts of an execute position."""
    from relay.order import decompose

    parts = decompose(number)
    typer.echo(f"epoch {parts.epoch}, binlog file number {parts.file_number}, offset {parts.offset}")


@contextmanager
def told_errors() -> Iterator[None]:
    """Errors of the relay become one sentence and an exit code: 2 for the configuration, 1 otherwise."""
    try:
        yield
    except RelayError as exc:
        typer.echo(str(exc), err=True)
        raise typer.Exit(2 if isinstance(exc, ConfigurationError) else 1) from exc


def _show_status(settings: RelaySettings, watch: bool) -> None:
    from contextlib import ExitStack
    from threading import Event

    from rich.console import Console

    from relay.deadline import Deadline
    from relay.state import InstanceStore, Paths
    from relay.status_table import status_table
    from relay.zk import Session

    session = Session(settings.zookeeper)
    session.start(Deadline.after(10))
    store = InstanceStore(session, Paths.of(settings.zookeeper, settings.installation))
    with ExitStack() as stack:
        stack.callback(session.stop)
        console = Console()
        while True:
            console.print(status_table(store.statuses()))
            if not watch:
                return
            Event().wait(1)
