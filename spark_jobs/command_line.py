"""The arguments of both jobs."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was asked for."""

    config: Path
    trace: bool


def read_arguments(name: str, description: str | None, arguments: Sequence[str] | None) -> Arguments:
    """Read the command line; argparse ends the process with code 2 when it is wrong."""
    parser = ArgumentParser(prog=name, description=description)
    parser.add_argument("--config", type=Path, required=True, help="the job's TOML file")
    parser.add_argument("--trace", action="store_true", help="show all that Spark says when the job fails")
    given = parser.parse_args(arguments)
    return Arguments(given.config, given.trace)
