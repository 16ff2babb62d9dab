"""`roma relay`, `roma api` and `roma status`: what runs, and what it does."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.settings import RelaySettings


@app.command()
def relay(config: ConfigFile) -> None:
    """Publish the row changes of the configured instances until SIGTERM."""
    with told_errors():
        settings = settings_of(config)
        from relay.app import run

        raise typer.Exit(run(settings))


@app.command()
def api(config: ConfigFile) -> None:
    """Serve the admin: mapping documents, instances, health."""
    import runpy

    with told_errors():
        settings_of(config)
    sys.argv = ["api", "--config", str(config)]
    runpy.run_module("api", run_name="__main__", alter_sys=True)


@app.command()
def status(config: ConfigFile, watch: Annotated[bool, typer.Option("--watch", help="Show it again every second.")] = False) -> None:
    """Show what every instance does, where it is and why it stands still."""
    with told_errors():
        _show_status(settings_of(config), watch)


def _show_status(settings: "RelaySettings", watch: bool) -> None:
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
