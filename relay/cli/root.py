"""What every command shares: the program's root, the configuration file, errors as sentences.

Heavy imports stand inside the commands, so that `roma --help` answers at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.errors import ConfigurationError, RelayError, SourceNotNamed

if TYPE_CHECKING:
    from relay.settings import RelaySettings

# Plain help: the coloured one loads a Markdown reader first, which takes longer than everything else.
app = typer.Typer(name="roma", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

ConfigFile: TypeAlias = Annotated[Path, typer.Option("--config", help="The configuration file (TOML).")]


def settings_of(config: Path) -> "RelaySettings":
    """Read and check the configuration file. Raises ConfigurationError."""
    from relay.settings import load_settings

    return load_settings(config)


@contextmanager
def told_errors() -> Iterator[None]:
    """Errors of the relay become one sentence and an exit code: 2 for the configuration, 1 otherwise."""
    try:
        yield
    except RelayError as exc:
        told = exc.asked_with("--source") if isinstance(exc, SourceNotNamed) else exc
        typer.echo(str(told), err=True)
        raise typer.Exit(2 if isinstance(exc, ConfigurationError) else 1) from exc
