"""Pieces of Markdown pages."""

import re
from collections.abc import Iterable, Sequence

GENERATED = "<!-- Generated from the code by `make reference`. Do not edit. -->"


def escaped(text: str) -> str:
    """Return the text on one line, with the characters escaped that Markdown would read as markup.

    Text in backticks stays.
    """
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else _plain(piece) for piece in pieces).replace(
        "|", "\\|"
    )


def _plain(text: str) -> str:
    return re.sub(r"([*\[\]])", r"\\\1", text).replace("<", "&lt;")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. The cells are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def page(title: str, *paragraphs: str) -> str:
    """Return a whole generated page."""
    return "\n\n".join([GENERATED, f"# {title}", *paragraphs]) + "\n"
