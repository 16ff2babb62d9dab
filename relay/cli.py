"""The command line: `roma`. Heavy imports stand inside the commands, so that `roma --help` answers at once."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.errors import ConfigurationError, RelayError

if TYPE_CHECKING:
    from relay.preflight import Finding
    from relay.settings import RelaySettings

# Plain help: the coloured one loads a Markdown reader first, which takes longer than everything else.
app = typer.Typer(name="roma", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
position = typer.Typer(no_args_is_help=True, help="Positions and the order pair.")
app.add_typer(position, name="position")
mapping = typer.Typer(no_args_is_help=True, help="Mapping documents.")
app.add_typer(mapping, name="mapping")

ConfigFile = Annotated[Path, typer.Option("--config", help="The configuration file (TOML).")]


@app.command()
def relay(config: ConfigFile) -> None:
    """Publish the row changes of the configured instances until SIGTERM."""
    with told_errors():
        settings = _settings(config)
        from relay.app import run

        raise typer.Exit(run(settings))


@app.command()
def api(config: ConfigFile) -> None:
    """Serve the admin: mapping documents, instances, health."""
    import runpy

    with told_errors():
        _settings(config)
    sys.argv = ["api", "--config", str(config)]
    runpy.run_module("api", run_name="__main__", alter_sys=True)


@app.command()
def status(config: ConfigFile, watch: Annotated[bool, typer.Option("--watch", help="Show it again every second.")] = False) -> None:
    """Show what every instance does, where it is and why it stands still."""
    with told_errors():
        settings = _settings(config)
        _show_status(settings, watch)


@app.command()
def preflight(
    config: ConfigFile, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")] = False
) -> None:
    """Look at everything that the relay will need, and change nothing. Exit code 0: it can run; 1: not; 2: the file is wrong."""
    with told_errors():
        settings = _settings(config)
        from relay.preflight import exit_code
        from relay.preflight import preflight as look
        from relay.settings import LogSettings
        from relay.telemetry import set_up_logging

        set_up_logging(LogSettings(level="ERROR"))
        findings = look(settings)
        _print_findings(findings, as_json=as_json)
        raise typer.Exit(exit_code(findings))


@mapping.command("check")
def check_mapping(files: Annotated[list[Path], typer.Argument(help="The JSON documents, or folders that hold them.")]) -> None:
    """Compile mapping documents together, without a server. Exit code 0: they can come into force; 1: not; 2: no such files."""
    with told_errors():
        from relay.preflight.mapping_files import read_mapping_files
        from relay.route import problems

        documents = read_mapping_files(files)
        found = problems(documents)
        for problem in found:
            typer.echo(f"{problem.data_id} at {problem.pointer or 'its top'}: {problem.sentence}")
        if not found:
            typer.echo(f"{', '.join(documents)}: no problems.")
        raise typer.Exit(1 if found else 0)


@position.command("decode")
def decode(number: int) -> None:
    """Print the parts of an execute position."""
    from relay.order import decompose

    parts = decompose(number)
    typer.echo(f"epoch {parts.epoch}, binlog file number {parts.file_number}, offset {parts.offset}")


def _settings(config: Path) -> "RelaySettings":
    from relay.settings import load_settings

    return load_settings(config)


@contextmanager
def told_errors() -> Iterator[None]:
    """Errors of the relay become one sentence and an exit code: 2 for the configuration, 1 otherwise."""
    try:
        yield
    except RelayError as exc:
        typer.echo(str(exc), err=True)
        raise typer.Exit(2 if isinstance(exc, ConfigurationError) else 1) from exc


def _print_findings(findings: "Sequence[Finding]", *, as_json: bool) -> None:
    import json

    from rich.console import Console

    from relay.preflight import exit_code, preflight_table

    if as_json:
        found = {"exit_code": exit_code(findings), "findings": [each.to_fields() for each in findings]}
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        Console().print(preflight_table(findings))


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
