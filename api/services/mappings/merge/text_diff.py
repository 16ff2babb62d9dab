"""Compares two texts line by line, for pages and answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from relay.route import DATA_IDS

_LONG: Final = 2000
"""In texts with more lines, frequent lines are not anchors of the comparison."""
_AROUND: Final = 2
"""Number of unchanged lines shown before and after a change."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a comparison of two texts.

    number  number of the line in the text that has it, from 1
    sign    "+" (added), "-" (removed) or " " (unchanged)
    text    the line
    """

    number: int
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """The lines that differ in the document `data_id`."""

    data_id: str
    lines: tuple[DiffLine, ...]

    @property
    def sums(self) -> str:
        """Return the numbers of added and removed lines as text."""
        signs = [each.sign for each in self.lines]
        return f"+{signs.count('+')} \N{MINUS SIGN}{signs.count('-')}"

    @property
    def text(self) -> str:
        """Return the lines, each with its sign before it."""
        return "\n".join(f"{each.sign}{each.text}" for each in self.lines)


def document_diffs(old: Mapping[str, str], new: Mapping[str, str]) -> list[DocumentDiff]:
    """Return the documents that differ between `old` and `new`, in the order dbs, tbs, topics,
    tags.
    """
    return [
        DocumentDiff(each, tuple(diff_lines(old.get(each, ""), new.get(each, ""))))
        for each in DATA_IDS
        if old.get(each, "") != new.get(each, "")
    ]


def diff_lines(old: str, new: str) -> list[DiffLine]:
    """Return the lines that differ between two texts, each group with a few unchanged lines around
    it.
    """
    before, after = old.split("\n"), new.split("\n")
    matcher = SequenceMatcher(None, before, after, autojunk=len(after) > _LONG)
    found: list[DiffLine] = []
    for group in matcher.get_grouped_opcodes(_AROUND):
        for kind, from_old, to_old, from_new, to_new in group:
            if kind == "equal":
                found += _numbered(after, from_new, to_new, " ")
            else:
                found += _numbered(before, from_old, to_old, "-")
                found += _numbered(after, from_new, to_new, "+")
    return found


def _numbered(lines: list[str], first: int, end: int, sign: str) -> list[DiffLine]:
    return [DiffLine(at + 1, sign, lines[at]) for at in range(first, end)]
