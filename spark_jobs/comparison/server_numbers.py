"""Converts Spark's numbers to the texts that MySQL and MariaDB print for FLOAT and DOUBLE. Source
of the rule: MySQL, strings/dtoa.cc, my_gcvt.
"""

import re
from collections.abc import Callable
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

_PLAIN_PLACES: Final = 15
"""Largest distance of the point from the digits without an exponent."""
_SMALLEST_USUAL: Final = 1e-3
_FIRST_LARGE: Final = 1e7
"""Between them Java prints a number without an exponent."""
_FLOAT_DIGITS: Final = 6
_DOUBLE_DIGITS: Final = (15, 16, 17)
_FIXED: Final = re.compile(r"\w+\s*\(\s*\d+\s*,\s*(\d+)\s*\)", re.ASCII)


def decimals_of(type_text: str) -> int | None:
    """Return D of a type FLOAT(M,D) or DOUBLE(M,D); None for a type without it."""
    found = _FIXED.match(type_text)
    return int(found[1]) if found else None


def float_text(value: Column) -> Column:
    """Return the text of a FLOAT: six digits, where Spark prints up to nine."""
    return _server_form(_scientific(value, _FLOAT_DIGITS))


def double_text(value: Column) -> Column:
    """Return the text of a DOUBLE: the fewest digits that read back as the same number."""
    tries = [_scientific(value, digits) for digits in _DOUBLE_DIGITS]
    exact = [sf.when(each.try_cast("double") == value, each) for each in tries[:-1]]
    return _plain_or(value, _server_form(sf.coalesce(*exact, tries[-1])))


def fixed_text(value: Column, decimals: int) -> Column:
    """Return the text of a number with `decimals` digits after the decimal point."""
    return sf.when(value.isNotNull(), sf.format_string(f"%.{decimals}f", value.cast("double")))


def _plain_or(value: Column, form: Column) -> Column:
    """Spark prints a DOUBLE of usual size as the servers do, but for `.0`, and many times faster
    than `form` does.
    """
    size = sf.abs(value)
    usual = (value == 0) | ((size >= _SMALLEST_USUAL) & (size < _FIRST_LARGE))
    return sf.when(usual, sf.regexp_replace(value.cast("string"), r"\.0$", "")).otherwise(form)


def _scientific(value: Column, digits: int) -> Column:
    """Null stays null, which Spark would print."""
    return sf.when(value.isNotNull(), sf.format_string(f"%.{digits - 1}e", value.cast("double")))


def _server_form(number: Column) -> Column:
    """`-1.2300e+02` → `-123`: with an exponent only where the point is far from the digits."""
    return _bound(number, lambda text: _bound(_parts(text), _placed))


def _parts(number: Column) -> Column:
    """Return sign, digits without trailing zeros, and how many of them precede the point."""
    sign = sf.when(sf.startswith(number, sf.lit("-")), "-").otherwise("")
    mantissa = sf.regexp_replace(sf.split_part(number, sf.lit("e"), sf.lit(1)), "[-.]", "")
    point = sf.split_part(number, sf.lit("e"), sf.lit(2)).try_cast("int") + 1
    return sf.struct(
        sign.alias("sign"),
        sf.regexp_replace(mantissa, "0+$", "").alias("digits"),
        point.alias("point"),
    )


def _placed(parts: Column) -> Column:
    digits, point = parts["digits"], parts["point"]
    length = sf.length(digits)
    plain = ((point > -_PLAIN_PLACES) & (point <= _PLAIN_PLACES)) | ((point > 0) & (point < length))
    rest = sf.when(length > 1, sf.concat(sf.lit("."), sf.substr(digits, sf.lit(2)))).otherwise("")
    exponential = sf.concat(
        sf.left(digits, sf.lit(1)), rest, sf.lit("e"), (point - 1).cast("string")
    )
    small = sf.concat(sf.lit("0."), sf.repeat(sf.lit("0"), -point), digits)
    behind = sf.when(
        length > point, sf.concat(sf.lit("."), sf.substr(digits, point + 1))
    ).otherwise("")
    large = sf.concat(sf.rpad(sf.left(digits, point), point, sf.lit("0")), behind)
    text = (
        sf.when(digits == "", "0")
        .when(~plain, exponential)
        .when(point <= 0, small)
        .otherwise(large)
    )
    return sf.concat(parts["sign"], text)


def _bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """Use a value several times and make it once, which Spark promises of the variable of a lambda
    alone.
    """
    return sf.get(sf.transform(sf.array(value), use), sf.lit(0))
