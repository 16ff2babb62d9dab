"""Names in mapping documents: comma lists, optional database prefixes, and regular expressions in
slashes.
"""

from dataclasses import dataclass

from relay.model.names.linear_pattern import LinearPattern, PatternRefused


class NameRefused(ValueError):
    """A name cannot be read. The message is a sentence for its author.

    `steps` is an upper bound of the steps that the check of the name took.
    """

    def __init__(self, sentence: str, steps: int = 1) -> None:
        super().__init__(sentence)
        self.steps = steps


@dataclass(frozen=True, slots=True)
class Name:
    """A literal name, or a regular expression that must match a whole name."""

    text: str
    expression: LinearPattern | None = None

    def matches(self, name: str) -> bool:
        """Return whether this name is, or matches, the whole text `name`."""
        return self.text == name if self.expression is None else self.expression.is_whole(name)

    @property
    def steps(self) -> int:
        """The number of instructions of the compiled expression; 1 for an exact name."""
        return 1 if self.expression is None else self.expression.instructions

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class TableName:
    """The name of a table with its database prefix, None without a prefix."""

    database: Name | None
    table: Name

    @property
    def steps(self) -> int:
        """The number of instructions of the compiled expressions of both parts."""
        return self.table.steps + (0 if self.database is None else self.database.steps)

    def __str__(self) -> str:
        return str(self.table) if self.database is None else f"{self.database}.{self.table}"


def split_outside_slashes(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators outside of slashes. Spaces around parts are
    removed.

    A backslash escapes the next character. Raises NameRefused if a slash is not closed.
    """
    parts, inside, escaped = [""], False, False
    for character in text:
        if character == separator and not inside:
            parts.append("")
            continue
        if character == "/" and not escaped:
            inside = not inside
        escaped = character == "\\" and not escaped
        parts[-1] += character
    if inside:
        raise NameRefused(
            f"{text!r} opens a regular expression with a slash and does not close it."
        )
    return [part.strip() for part in parts]


def read_name(text: str) -> Name:
    """Return the name in a text that has no database prefix. Raises NameRefused."""
    if not text:
        raise NameRefused("A name is empty.")
    if not text.startswith("/"):
        if "/" in text:
            raise NameRefused(
                f"{text!r} contains a slash; a regular expression is enclosed in slashes. "
            )
        return Name(text)
    if len(text) < 3 or not text.endswith("/"):
        raise NameRefused(f"{text!r} is not a regular expression between slashes.")
    try:
        return Name(text, LinearPattern(text[1:-1]))
    except PatternRefused as exc:
        raise NameRefused(
            f"{text!r} is not a regular expression: {exc}.", exc.instructions
        ) from exc


def read_exact_name(text: str) -> str:
    """Return a literal name, such as a logical name. Raises NameRefused for an expression."""
    name = read_name(text)
    if name.expression is not None:
        raise NameRefused(f"{text!r} is a regular expression where one exact name is needed.")
    return name.text


def read_table_name(text: str) -> TableName:
    """Return the name of a table, with its optional prefix `database.`. Raises NameRefused."""
    parts = split_outside_slashes(text, ".")
    if len(parts) > 2:
        raise NameRefused(
            f"{text!r} has more than one dot; a name that contains a dot is written as a "
            "regular expression."
        )
    names = [read_name(part) for part in parts]
    return TableName(names[0] if len(names) == 2 else None, names[-1])


def read_exact_table_name(text: str) -> tuple[str | None, str]:
    """Return (logical database or None, logical table) of a literal name. Raises NameRefused."""
    parts = split_outside_slashes(text, ".")
    if len(parts) > 2:
        raise NameRefused(
            f"{text!r} has more than one dot; a logical name is `table` or `database.table`."
        )
    names = [read_exact_name(part) for part in parts]
    return (names[0] if len(names) == 2 else None, names[-1])
