"""The tree of a parsed condition on a row."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

Comparator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
ConstantValue: TypeAlias = "int | Decimal | str | None"


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column by its name, which is compared without case."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text or NULL."""

    value: ConstantValue


Operand: TypeAlias = "ColumnName | Constant"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and a comparator; unknown (NULL) if one operand is NULL."""

    left: Operand
    comparator: Comparator
    right: Operand


@dataclass(frozen=True, slots=True)
class IsNull:
    """True if the operand is NULL, otherwise false; never unknown."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Like:
    """`%` matches any characters, `_` one character; a backslash escapes the next character."""

    operand: Operand
    pattern: str


@dataclass(frozen=True, slots=True)
class Not:
    """True if its condition is false; unknown stays unknown."""

    part: "Condition"


@dataclass(frozen=True, slots=True)
class All:
    """True if all its conditions are true (AND)."""

    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Either:
    """True if one of its conditions is true (OR)."""

    parts: "tuple[Condition, ...]"


Condition: TypeAlias = "Comparison | IsNull | Like | Not | All | Either"
