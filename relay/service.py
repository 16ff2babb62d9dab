"""The command line and the listening socket that admin and Canal server share."""

import argparse
import json
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from relay.errors import ConfigurationError
from relay.settings import RelaySettings, load_settings
from relay.telemetry import set_up_logging

_BACKLOG: Final = 128
JSON_LOG_HELP: Final = (
    "write the log and standard output as one JSON object a line, whatever log.format says"
)
Say: TypeAlias = Callable[[str, str], None]
"""Prints a name and a text on standard output, such as the address at which a service listens."""


def run_service(
    prog: str,
    description: str,
    serve: Callable[[RelaySettings, Say], None],
    argv: Sequence[str] | None = None,
) -> int:
    """Read the command line and the configuration file, and call `serve` with the settings.

    serve  runs the service; its second argument prints addresses in the form of the command line

    Returns the exit code: 0 after a signal, 2 for a configuration that cannot be used.
    """
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="the relay's configuration file (TOML)",
    )
    parser.add_argument("--json", action="store_true", help=JSON_LOG_HELP)
    arguments = parser.parse_args(argv)
    try:
        settings = load_settings(arguments.config)
        if arguments.json:
            settings = with_json_log(settings)
        set_up_logging(settings.log)
        serve(settings, say_json if arguments.json else say_text)
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def say_text(name: str, text: str) -> None:
    """Print `name: text` on standard output."""
    _print(f"{name}: {text}")


def say_json(name: str, text: str) -> None:
    """Print an object with one field on standard output; spaces and dashes of `name` become
    underscores.
    """
    field = name.replace(" ", "_").replace("-", "_")
    _print(json.dumps({field: text}, ensure_ascii=False))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def with_json_log(settings: RelaySettings) -> RelaySettings:
    """Return the settings with a log of JSON lines, whatever their `log.format` is."""
    log = settings.log.model_copy(update={"format": "json"})
    return settings.model_copy(update={"log": log})


def listening_socket(table: str, host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`. `table` is the table of the settings that
    has them, for error messages.

    Raises ConfigurationError if the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as exc:
        raise ConfigurationError(
            f"{table}.host and {table}.port: the process cannot listen on {host}:{port} "
            f"({exc.strerror})."
        ) from exc
