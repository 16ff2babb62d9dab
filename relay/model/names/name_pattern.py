"""Canal's patterns over `database.table`: used by its filters and partition rules.

Source of the rules: alibaba/canal, AviaterRegexFilter (Perl 5 expressions of Jakarta ORO).
"""

import re
from typing import Final

from relay.errors import ConfigurationError
from relay.model.names.linear_pattern import LinearPattern, PatternRefused

_PATTERN_CHARACTERS: Final = frozenset("*?+|(){}[]\\$^")
# These flags apply to every pattern anyway, so they are removed: Perl accepts them anywhere, Python
# only at the start.
_SWITCH_IN_FORCE: Final = re.compile(r"(?<!\\)\(\?[is]+\)")
_REMEDY: Final = (
    "Write it without the named construct (docs/filters.md, Regular expressions); several simple "
    "expressions can replace one."
)
_CLOSING: Final = {"}": "{", "]": "[", ")": "("}


def is_pattern(text: str) -> bool:
    """Return whether Canal reads the text as a regular expression rather than as a name.

    A dot alone does not make one.
    """
    return not _PATTERN_CHARACTERS.isdisjoint(text)


def split_rules(text: str) -> list[str]:
    """Split a rule list at every comma and semicolon, even inside groups and braces. Empty parts
    are left out, spaces are kept.
    """
    return [part for part in text.replace(",", ";").split(";") if part]


class NamePattern:
    """A comma-separated list of regular expressions, each of which must match a whole name.

    Case is ignored. As in Canal, `^` and `$` are added at the two ends of each expression: `a|b`
    becomes `^a|b$`. Raises ConfigurationError for an invalid expression.
    """

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # Longer parts are tried first: only the first alternative that matches is used, and it must
        # match to the end of the name.
        parts = sorted(_split_outside_groups(text), key=len, reverse=True)
        self._compiled = (
            _compile("|".join(_anchored(part) for part in parts), text) if parts else None
        )

    @property
    def empty(self) -> bool:
        """Whether the list has no expression. It then matches no name."""
        return self._compiled is None

    @property
    def parts(self) -> list[str]:
        """Return the expressions of the list."""
        return _split_outside_groups(self.text)

    def matches(self, name: str) -> bool:
        """Return whether the whole name matches."""
        if self._compiled is None:
            return False
        return self._compiled.first_match_is_whole(name.lower())


def _split_outside_groups(text: str) -> list[str]:
    r"""Split at commas outside of `{}`, `[]` and `()`, so that `\d{1,2}` remains one part."""
    depth = {"{": 0, "[": 0, "(": 0}
    parts = [""]
    escaped = False
    for character in text:
        if not escaped and character == "," and not any(depth.values()):
            parts.append("")
            continue
        if not escaped and character in depth:
            depth[character] += 1
        elif not escaped and character in _CLOSING:
            depth[_CLOSING[character]] = max(0, depth[_CLOSING[character]] - 1)
        escaped = character == "\\" and not escaped
        parts[-1] += character
    return [part for part in parts if part]


def _anchored(part: str) -> str:
    # A part may begin with a quantifier. Perl applies it to the anchor, so that the part matches no
    # name. The group gives RE2 the same meaning.
    return f"(?:^){_SWITCH_IN_FORCE.sub('', part)}$"


def _compile(expression: str, text: str) -> LinearPattern:
    try:
        return LinearPattern(expression, ignore_case=True, any_character=True)
    except PatternRefused as exc:
        raise ConfigurationError(
            f"{text!r} is not a regular expression over names: {exc}.", remedy=_REMEDY
        ) from exc
