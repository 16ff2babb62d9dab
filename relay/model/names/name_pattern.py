"""Canal's patterns over `database.table`: used by its filters and partition rules.

Source of the rules: alibaba/canal, AviaterRegexFilter (Perl 5 expressions of Jakarta ORO).
"""

import re
from typing import Final

from relay.errors import ConfigurationError
from relay.model.names.linear_pattern import LinearPattern, PatternRefused

_PATTERN_CHARACTERS: Final = frozenset("*?+|(){}[]\\$^")
# Switches that are on for every pattern anyway; Perl takes them anywhere, Python at the start
# alone.
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
    """Cut a rule list at every comma and semicolon, empty parts left out, spaces kept.

    Groups and braces protect nothing.
    """
    return [part for part in text.replace(",", ";").split(";") if part]


class NamePattern:
    """A comma list of regular expressions over a whole name.

    Case never counts, and each part is anchored at both ends.

    Anchors are put around a part as Canal puts them: in `a|b` the first holds `^` alone and the
    last `$` alone. Raises ConfigurationError when a part is not a regular expression.
    """

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # Longer parts are tried first: the first alternative that matches decides, and it must
        # reach the end of the name.
        parts = sorted(_split_outside_groups(text), key=len, reverse=True)
        self._compiled = (
            _compile("|".join(_anchored(part) for part in parts), text) if parts else None
        )

    @property
    def empty(self) -> bool:
        """Whether the text holds no expression at all; such a pattern matches nothing."""
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
    r"""Cut at the commas outside `{}`, `[]` and `()`, so that `\d{1,2}` stays whole."""
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
    # The group lets a part begin with a quantifier, which Perl then takes for the anchor's: such a
    # part matches no name.
    return f"(?:^){_SWITCH_IN_FORCE.sub('', part)}$"


def _compile(expression: str, text: str) -> LinearPattern:
    try:
        return LinearPattern(expression, ignore_case=True, any_character=True)
    except PatternRefused as exc:
        raise ConfigurationError(
            f"{text!r} is not a regular expression over names: {exc}.", remedy=_REMEDY
        ) from exc
