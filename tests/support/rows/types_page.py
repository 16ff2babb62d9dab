"""docs/types.md as data: each table line is a column type, a value, and the expected texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[3] / "docs" / "types.md"
_HEAD: Final = "| column | value stored | exact | canal | servers |"
_FAMILIES: Final = {"all": ("mysql", "mariadb"), "MySQL": ("mysql",), "MariaDB": ("mariadb",)}
_ESCAPED: Final = re.compile(r"\\\\|\\u([0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class TypeLine:
    """One line: its number, the declaration, the SQL of the value, both texts, and the families of
    servers that have the type.
    """

    number: int
    declared: str
    stored: str
    exact: str
    canal: str
    families: tuple[str, ...]


def type_lines(family: str | None = None) -> list[TypeLine]:
    """Return the lines for servers of `family`; all of them for None."""
    return [line for line in _lines() if family is None or family in line.families]


def _lines() -> Iterator[TypeLine]:
    inside = False
    for number, text in enumerate(PAGE.read_text(encoding="utf-8").splitlines()):
        inside = text == _HEAD or (inside and text.startswith("|"))
        if inside and text.startswith("| `"):
            declared, stored, exact, canal, servers = (
                cell.strip() for cell in text.strip("|").split("|")
            )
            yield TypeLine(
                number, declared[1:-1], stored[1:-1], _text(exact), _text(canal), _FAMILIES[servers]
            )


def rewritten(page: str, texts: dict[int, tuple[str, str]]) -> str:
    """Return the page with these exact and Canal texts in the lines of these numbers."""
    lines = page.split("\n")
    for number, (exact, canal) in texts.items():
        cells = lines[number].split("|")
        cells[3], cells[4] = f" {_cell(exact)} ", f" {_cell(canal)} "
        lines[number] = "|".join(cells)
    return "\n".join(lines)


def _text(cell: str) -> str:
    return unescaped(cell[1:-1]) if cell[:1] == "`" else ""


def _cell(text: str) -> str:
    return f"`{escaped(text)}`" if text else "empty"


def escaped(text: str) -> str:
    """Return a text on one line, escaped for a cell."""
    return "".join(_escaped(text, at) for at in range(len(text)))


def _escaped(text: str, at: int) -> str:
    character = text[at]
    hidden = (
        not character.isprintable()
        or character in "`|"
        or (character == " " and at in (0, len(text) - 1))
    )
    if hidden and ord(character) < 0x10000:
        return f"\\u{ord(character):04x}"
    return "\\\\" if character == "\\" else character


def unescaped(cell: str) -> str:
    """Return the text of a cell, without escapes."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", cell)
