"""Every `roma …` command that a page, a message or an error names exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import typer
from typer.core import TyperGroup

from relay.cli import app

_ROOT: Final = Path(__file__).parents[3]
_WORDS: Final = re.compile(r"\broma((?: [a-z][a-z-]*)+)")
_COMMANDS: Final = typer.main.get_command(app)
_PLACES: Final = (("docs", "*.md"), ("relay", "*.py"), ("api", "*.py"), ("spark_jobs", "*.py"))


def _named(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in backquotes, or on a line that is a command alone."""
    for span in re.findall(r"`(roma [^`]+)`|^ *\$? ?(roma .+)$", text, re.MULTILINE):
        for found in _WORDS.finditer(" ".join("".join(span).split())):
            yield found[1].split()


def _is_known(words: list[str]) -> bool:
    command: object = _COMMANDS
    for word in words:
        if not isinstance(command, TyperGroup):
            return True
        if word not in command.commands:
            return False
        command = command.commands[word]
    return True


@pytest.mark.parametrize(("folder", "pattern"), _PLACES)
def test_every_command_that_is_named_exists(folder: str, pattern: str) -> None:
    unknown = {
        f"{file.relative_to(_ROOT)}: roma {' '.join(words)}"
        for file in (_ROOT / folder).rglob(pattern)
        if "adr" not in file.parts
        for words in _named(file.read_text(encoding="utf-8"))
        if not _is_known(words)
    }
    assert unknown == set()
