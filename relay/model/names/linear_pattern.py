r"""Users' regular expressions, matched by RE2 in time linear in the text.

Their meaning is that of Python's `re`. RE2 has no backreferences, no look-ahead and no look-behind:
a pattern with a construct that RE2 lacks, or reads otherwise than Python, is refused with its name.
Letters, digits and spaces outside ASCII match `\w`, `\d` and `\s`, as in Python.
"""

import re
import warnings
from typing import Final

import re2

_MOST_MEMORY_BYTES: Final = 8 << 20
"""Largest memory of one compiled expression. RE2 refuses expressions that need more."""
_INSTRUCTION_BYTES: Final = 16
_LETTERS: Final = r"\p{L}\p{N}_"
_SPACES: Final = r"\t-\r\x1c-\x20\x{85}\p{Z}"
_OUTSIDE: Final = {
    "w": f"[{_LETTERS}]",
    "W": f"[^{_LETTERS}]",
    "s": f"[{_SPACES}]",
    "S": f"[^{_SPACES}]",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "Z": r"\z",
}
_INSIDE: Final = {"w": _LETTERS, "s": _SPACES, "d": r"\p{Nd}", "D": r"\P{Nd}"}
_REFUSED: Final = {
    "b": r"\b (a word's border)",
    "B": r"\B (no word's border)",
    "N": r"\N (a character by name)",
    **{digit: f"\\{digit} (a backreference)" for digit in "123456789"},
}
_REFUSED_GROUPS: Final = {
    "(?=": "(?=…) (look-ahead)",
    "(?!": "(?!…) (negative look-ahead)",
    "(?<=": "(?<=…) (look-behind)",
    "(?<!": "(?<!…) (negative look-behind)",
    "(?>": "(?>…) (an atomic group)",
    "(?P=": "(?P=…) (a backreference)",
    "(?(": "(?(…) (a condition)",
    "(?#": "(?#…) (a comment)",
}
_HEX_DIGITS: Final = {"u": 4, "U": 8}
_OPEN_BELOW: Final = re.compile(r"\{,(\d+)\}")


class PatternRefused(ValueError):
    """An expression that is invalid, or contains a construct that RE2 lacks. The message is a
    sentence about it.

    `instructions` is an upper bound of the instructions that RE2 compiled before it refused.
    """

    def __init__(self, sentence: str, instructions: int = 1) -> None:
        super().__init__(sentence)
        self.instructions = instructions


class LinearPattern:
    """A compiled regular expression that matches in linear time. Raises PatternRefused."""

    __slots__ = ("_compiled", "text")

    def __init__(
        self, text: str, *, ignore_case: bool = False, any_character: bool = False
    ) -> None:
        """`any_character`: the dot matches a line break too."""
        self.text = text
        _check(text)
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MOST_MEMORY_BYTES
        options.case_sensitive = not ignore_case
        options.dot_nl = any_character
        try:
            self._compiled = re2.compile(_for_re2(text), options)
        except (re2.error, UnicodeEncodeError) as exc:
            raise PatternRefused(
                f"RE2 cannot run it: {_sentence(exc)}", _MOST_MEMORY_BYTES // _INSTRUCTION_BYTES
            ) from exc

    @property
    def instructions(self) -> int:
        """The number of instructions of the compiled expression, which determines its memory and
        the time to compile it.
        """
        return self._compiled.programsize

    def is_whole(self, text: str) -> bool:
        """Return whether the expression matches the whole text."""
        return self._compiled.fullmatch(text) is not None

    def first_match_is_whole(self, text: str) -> bool:
        """Return whether the expression's first match at the beginning of the text reaches its
        end.

        No other match is tried: `a|ab` does not match `ab`, although `is_whole` is true. Canal's
        filter has this meaning (`Perl5Matcher.matches` of Jakarta ORO).
        """
        match = self._compiled.match(text)
        return match is not None and match.end() == len(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearPattern) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def _check(text: str) -> None:
    """Raise PatternRefused if Python refuses the expression, or warns that it may change."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(text)
    except (re.error, FutureWarning, RecursionError, OverflowError) as exc:
        raise PatternRefused(f"{exc}") from exc


def _for_re2(text: str) -> str:
    """Return the expression for RE2. Raises PatternRefused for constructs that RE2 lacks."""
    written: list[str] = []
    at, bracket = 0, -1
    while at < len(text):
        piece, width = (
            _escape(text, at, inside=bracket >= 0)
            if text[at] == "\\"
            else _plain(text, at, inside=bracket >= 0)
        )
        if bracket < 0 and text[at] == "[":
            bracket = (
                at + 1 + (text[at + 1 : at + 2] == "^")
            )  # a closing bracket that comes first is a character
        elif text[at] == "]" and at > bracket >= 0:
            bracket = -1
        written.append(piece)
        at += width
    return "".join(written)


def _plain(text: str, at: int, *, inside: bool) -> tuple[str, int]:
    if not inside:
        for opening, name in _REFUSED_GROUPS.items():
            if text.startswith(opening, at):
                raise PatternRefused(f"{name} cannot be run in bounded time")
        open_below = _OPEN_BELOW.match(text, at)
        if open_below is not None:
            return f"{{0,{open_below[1]}}}", open_below.end() - at
    return text[at], 1


def _escape(text: str, at: int, *, inside: bool) -> tuple[str, int]:
    character = text[at + 1]
    if character in _HEX_DIGITS:
        width = _HEX_DIGITS[character]
        return f"\\x{{{text[at + 2 : at + 2 + width]}}}", 2 + width
    if inside and character in "WS":
        raise PatternRefused(f"\\{character} within brackets is not supported; list the characters")
    if not inside and character in _REFUSED:
        raise PatternRefused(f"{_REFUSED[character]} is not supported")
    if inside and character == "b":
        return r"\x08", 2
    return (_INSIDE if inside else _OUTSIDE).get(character, text[at : at + 2]), 2


def _sentence(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
