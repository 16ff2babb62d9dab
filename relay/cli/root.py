"""What all commands share: the root of the program, the configuration file, and the printing of
errors as sentences.

Heavy imports are inside the commands, so that `roma --help` is fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from relay.errors import ConfigurationError, RelayError, SourceNotNamed

if TYPE_CHECKING:
    from relay.settings import RelaySettings


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"roma {version('roma-relay')}")
        raise typer.Exit


# Plain help: coloured help first loads a Markdown reader, which takes longer than the rest of
# the command.
app = typer.Typer(
    name="roma",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_SERVERS: Final = ("relay", "api", "canal-server")
"""Services: their acts are not recorded as acts of the command line."""


@app.callback()
def roma(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Publish the row changes of MySQL and MariaDB servers to Kafka."""
    if context.invoked_subcommand not in _SERVERS:
        from relay.audit.via import COMMAND_LINE, acting_via

        context.with_resource(acting_via(COMMAND_LINE))


ConfigFile: TypeAlias = Annotated[
    Path, typer.Option("--config", help="The configuration file (TOML).")
]


def settings_of(config: Path) -> "RelaySettings":
    """Read and check the configuration file, and limit the log to errors.

    Raises ConfigurationError.
    """
    from relay.settings import LogSettings, load_settings
    from relay.telemetry import set_up_logging

    settings = load_settings(config)
    set_up_logging(LogSettings(level="ERROR"))
    return settings


@contextmanager
def told_errors() -> Iterator[None]:
    """Context manager: print errors of the relay as one sentence and exit with code 2
    (configuration) or 1 (others).
    """
    try:
        yield
    except RelayError as exc:
        told = exc.asked_with("--source") if isinstance(exc, SourceNotNamed) else exc
        typer.echo(str(told), err=True)
        raise typer.Exit(2 if isinstance(exc, ConfigurationError) else 1) from exc
