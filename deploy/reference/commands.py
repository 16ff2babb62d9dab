"""The page of the command line, generated from the output of `--help`."""

import os
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from typing import Final
from unittest.mock import patch

import typer
from typer.testing import CliRunner

from deploy.reference.markdown import page
from relay.cli import app

_JOBS: Final = {
    ("dedup", "stream"): "dedup_stream",
    ("dedup", "batch"): "dedup_batch",
    ("bootstrap",): "bootstrap",
    ("reconcile",): "reconcile",
}
"""Commands that run a Spark job. The job prints their help."""
_WIDE: Final = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}


def commands_page() -> str:
    """Return the page of all commands."""
    return page(
        "Commands",
        "What `roma COMMAND --help` prints. Exit codes: 0, 1 when a command failed or found "
        "something, 2 for a wrong command line or "
        "configuration; where a command has others, its text says so.",
        *(
            f"## {' '.join(('roma', *words))}\n\n```text\n{_help(words)}\n```"
            for words in _commands()
        ),
    )


def _commands() -> Iterator[tuple[str, ...]]:
    """The words of each command, groups before their members."""
    yield ()
    for name, command in sorted(_members(typer.main.get_command(app)).items()):
        yield (name,)
        for inner in sorted(_members(command)):
            yield name, inner


def _members(command: object) -> Mapping[str, object]:
    """The commands of a group by name; none for a single command."""
    return getattr(command, "commands", None) or {}


def _help(words: tuple[str, ...]) -> str:
    with patch.dict(os.environ, _WIDE):
        text = (
            _help_of_job(_JOBS[words])
            if words in _JOBS
            else CliRunner().invoke(app, [*words, "--help"], prog_name="roma").output
        )
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _help_of_job(job: str) -> str:
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        import_module(f"spark_jobs.{job}").main(["--help"])
    return printed.getvalue()
