"""Parses the text of a condition into a tree.

The grammar is that of a search condition in SQL, without functions, arithmetic and subqueries.
"""

from decimal import Decimal
from typing import Final, cast

from relay.errors import ConditionRefused
from relay.refine.condition import (
    All,
    ColumnName,
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
from relay.refine.condition_tokens import Kind, Token, refused, tokens

MOST_DEPTH: Final = 50
"""Largest nesting depth of brackets and NOTs."""

# Longer ones are compared as decimals, which do not grow with their exponent.
_DIGITS_OF_INTEGERS: Final = 20
_COMPARATORS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionRefused with the character position and the mistake."""
    return _Parser(text).whole()


class _Parser:
    """Reads from left to right; each method reads one rule and is named after its result."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Condition:
        condition = self._either()
        if self._next.kind is not Kind.END:
            raise self._refusal("AND, OR or the end is missing here.")
        return condition

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _took(self, *texts: str) -> bool:
        """Take these keywords or signs if they are next."""
        coming = self._tokens[self._at : self._at + len(texts)]
        if [each.text for each in coming] != [*texts] or any(
            each.kind not in (Kind.WORD, Kind.SIGN) for each in coming
        ):
            return False
        self._at += len(texts)
        return True

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._refusal(f"{text} is missing here.")

    def _refusal(self, why: str) -> ConditionRefused:
        return refused(self._text, self._next.at, why)

    def _either(self) -> Condition:
        parts = [self._all()]
        while self._took("OR"):
            parts.append(self._all())
        return Either(tuple(parts)) if len(parts) > 1 else parts[0]

    def _all(self) -> Condition:
        parts = [self._negation()]
        while self._took("AND"):
            parts.append(self._negation())
        return All(tuple(parts)) if len(parts) > 1 else parts[0]

    def _negation(self) -> Condition:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._refusal(f"more than {MOST_DEPTH} brackets and NOTs are nested.")
        condition: Condition = Not(self._negation()) if self._took("NOT") else self._part()
        self._depth -= 1
        return condition

    def _part(self) -> Condition:
        if self._took("("):
            condition = self._either()
            self._expect(")")
            return condition
        operand = self._operand()
        if self._next.kind is Kind.SIGN and self._next.text in _COMPARATORS:
            return Comparison(operand, cast("Comparator", self._take().text), self._operand())
        if self._took("IS", "NOT", "NULL"):
            return Not(IsNull(operand))
        if self._took("IS", "NULL"):
            return IsNull(operand)
        negated = self._took("NOT")
        condition = self._of_a_set(operand)
        return Not(condition) if negated else condition

    def _of_a_set(self, operand: Operand) -> Condition:
        if self._took("IN", "("):
            return self._in(operand)
        if self._took("BETWEEN"):
            low = self._operand()
            self._expect("AND")
            return All((Comparison(operand, ">=", low), Comparison(operand, "<=", self._operand())))
        if self._took("LIKE"):
            if self._next.kind is not Kind.TEXT:
                raise self._refusal("LIKE needs a text in single quotes.")
            return Like(operand, self._take().text)
        raise self._refusal("a comparison, IN (…), BETWEEN, LIKE or IS NULL is missing here.")

    def _in(self, operand: Operand) -> Condition:
        parts = [Comparison(operand, "=", self._operand())]
        while self._took(","):
            parts.append(Comparison(operand, "=", self._operand()))
        self._expect(")")
        return Either(tuple(parts))

    def _operand(self) -> Operand:
        if self._took("NULL"):
            return Constant(None)
        if self._took("TRUE"):
            return Constant(1)
        if self._took("FALSE"):
            return Constant(0)
        sign = (
            self._take().text
            if self._next.kind is Kind.SIGN and self._next.text in ("+", "-")
            else ""
        )
        match self._next.kind:
            case Kind.NUMBER:
                return Constant(_number(sign + self._take().text))
            case _ if sign:
                raise self._refusal("a sign is allowed only before a number.")
            case Kind.TEXT:
                return Constant(self._take().text)
            case Kind.NAME:
                return ColumnName(self._take().text)
        raise self._refusal("a column, a number or a text is missing here.")


def _number(text: str) -> int | Decimal:
    number = Decimal(text)
    return (
        int(number)
        if number == number.to_integral_value() and number.adjusted() < _DIGITS_OF_INTEGERS
        else number
    )
