"""Binds a condition to the columns of a table. A bound condition is True, False, or None for SQL's
unknown.
"""

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from relay.errors import RowImageIncomplete, RuleRefused
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row
from relay.refine.comparable import Comparable, Family, comparable, microseconds, moment
from relay.refine.condition import (
    All,
    Comparator,
    Comparison,
    Condition,
    Constant,
    Either,
    IsNull,
    Like,
    Not,
    Operand,
)
from relay.refine.like import like

Holds: TypeAlias = Callable[[Row], "bool | None"]
"""A row → whether the condition holds, None if that is unknown."""

ColumnText: TypeAlias = Callable[[Any], str]

_COMPARE: Final[dict[Comparator, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_READ_FROM_TEXT: Final[dict[Family, Callable[[str], Any]]] = {
    Family.MOMENT: moment,
    Family.TIME: microseconds,
}
_NUMBERS: Final = frozenset({Family.NUMBER, Family.FLOAT})


class _Side(NamedTuple):
    """One side of a comparison: its value from the row, its family, and its readable text.

    `constant` None: a column.
    """

    value: Callable[[Row], Any]
    family: Family
    words: str
    constant: Constant | None = None


class ConditionBinder:
    """Binds conditions to one table; `texts` print its columns.

    Raises RuleRefused for missing columns and comparisons that are impossible.
    """

    def __init__(self, definition: TableDefinition, texts: Sequence[ColumnText]) -> None:
        self._definition = definition
        self._texts = texts
        self._ordinals = {
            column.name.lower(): ordinal for ordinal, column in enumerate(definition.map.columns)
        }

    def bind(self, condition: Condition) -> Holds:
        """Return the condition as a function of a row."""
        match condition:
            case Not(part):
                return _negated(self.bind(part))
            case All(parts):
                return _all([self.bind(part) for part in parts])
            case Either(parts):
                return _either([self.bind(part) for part in parts])
            case IsNull(operand):
                value = self._side(operand).value
                return lambda row: value(row) is None
            case Like(operand, pattern):
                return self._like(self._side(operand), pattern)
            case Comparison(left, comparator, right):
                return _compared(
                    *self._alike(self._side(left), self._side(right)), _COMPARE[comparator]
                )

    def _side(self, operand: Operand) -> _Side:
        if isinstance(operand, Constant):
            constant = operand.value
            family = Family.TEXT if isinstance(constant, str) else Family.NUMBER
            return _Side(
                lambda _: constant, family, "NULL" if constant is None else repr(constant), operand
            )
        ordinal = self._ordinals.get(operand.name.lower())
        if ordinal is None:
            raise RuleRefused(
                f"A rule's condition names the column {operand.name}, which "
                f"{self._definition.id} does not have."
            )
        kind = comparable(self._definition.map.columns[ordinal], self._texts[ordinal])
        return _Side(self._reader(ordinal, kind), kind.family, f"the column {operand.name}")

    def _reader(self, ordinal: int, kind: Comparable) -> Callable[[Row], Any]:
        name, table, of = self._definition.map.columns[ordinal].name, self._definition.id, kind.of

        def value(row: Row) -> Any:
            read = row[ordinal]
            if read is ABSENT:
                raise RowImageIncomplete(
                    f"A rule's condition on {table} needs the column {name}, which a row lacks."
                )
            return None if read is None else of(read)

        return value

    def _like(self, side: _Side, pattern: str) -> Holds:
        if side.family is not Family.TEXT:
            raise self._refusal(f"LIKE compares texts, and {side.words} is {side.family.value}.")
        matches, value = like(pattern), side.value

        def holds(row: Row) -> bool | None:
            text = value(row)
            return None if text is None else matches(text)

        return holds

    def _alike(self, left: _Side, right: _Side) -> tuple[_Side, _Side]:
        """Return both sides with values of one family, which Python can compare."""
        if _is_null(left) or _is_null(right):
            return left, right
        left, right = self._read(left, right.family), self._read(right, left.family)
        if left.family is right.family and left.family is not Family.OPAQUE:
            return left, right
        if {left.family, right.family} == _NUMBERS:
            return _as_float(left), _as_float(right)
        raise self._refusal(
            f"{left.words} is {left.family.value}, and {right.words} is {right.family.value}."
        )

    def _read(self, side: _Side, other: Family) -> _Side:
        """Return a text constant as the date or time that it is compared with."""
        read = _READ_FROM_TEXT.get(other)
        if side.constant is None or read is None or not isinstance(side.constant.value, str):
            return side
        try:
            constant = read(side.constant.value)
        except ValueError as exc:
            raise self._refusal(f"{side.words} is not {other.value}: {exc}.") from exc
        return _Side(lambda _: constant, other, side.words, side.constant)

    def _refusal(self, why: str) -> RuleRefused:
        return RuleRefused(f"A rule's condition cannot be applied to {self._definition.id}: {why}")


def _is_null(side: _Side) -> bool:
    return side.constant is not None and side.constant.value is None


def _as_float(side: _Side) -> _Side:
    """Return the side with its numbers as floats: the server compares exact and floating-point
    numbers so.
    """
    value = side.value

    def as_float(row: Row) -> float | None:
        number: int | Decimal | float | None = value(row)
        return None if number is None else float(number)

    return side._replace(value=as_float, family=Family.FLOAT)


def _compared(left: _Side, right: _Side, compare: Callable[[Any, Any], bool]) -> Holds:
    one, other = left.value, right.value

    def holds(row: Row) -> bool | None:
        first, second = one(row), other(row)
        return None if first is None or second is None else compare(first, second)

    return holds


def _negated(part: Holds) -> Holds:
    def holds(row: Row) -> bool | None:
        held = part(row)
        return None if held is None else not held

    return holds


def _all(parts: Sequence[Holds]) -> Holds:
    def holds(row: Row) -> bool | None:
        unknown = False
        for part in parts:
            held = part(row)
            if held is False:
                return False
            unknown = unknown or held is None
        return None if unknown else True

    return holds


def _either(parts: Sequence[Holds]) -> Holds:
    def holds(row: Row) -> bool | None:
        unknown = False
        for part in parts:
            held = part(row)
            if held:
                return True
            unknown = unknown or held is None
        return None if unknown else False

    return holds
