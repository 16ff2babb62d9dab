"""Prints floating-point numbers as Java does (Double.toString and Float.toString up to JDK 18), for
consumers that were built for Canal.

These versions do not always print the shortest text (3.1933444952555517E293 where
3.193344495255552E293 would do), so their algorithm is repeated here, with its overflows. It is the
free-format algorithm of Steele and White: with value = b/s, digits are taken from b until the
remainder is inside the margin m below or above. Source: the behaviour of JDK 17;
tests/golden/java_texts.jsonl contains its results.
"""

import math
import struct
from typing import Final, NamedTuple

_DOUBLE: Final = struct.Struct(">d")
_FLOAT: Final = struct.Struct(">f")
_LONG: Final = struct.Struct(">Q")
_INT: Final = struct.Struct(">I")

_FRACTION_BITS: Final = 52
_MAX_SMALL_EXPONENT: Final = 62
_MIN_SMALL_EXPONENT: Final = -21
# Up to these exponents numbers are printed without E.
_MIN_PLAIN_EXPONENT: Final = -3
_MAX_PLAIN_EXPONENT: Final = 8
_POWERS_COUNTED: Final = 27
_BITS_OF_POWERS_OF_5: Final = (0, *((5**i).bit_length() for i in range(1, _POWERS_COUNTED)))


class _Parts(NamedTuple):
    """A finite number above zero: value = fraction * 2^(exponent - 52).

    The highest bit of `fraction` is at _FRACTION_BITS.
    """

    fraction: int
    exponent: int
    significant_bits: int


class _Digits(NamedTuple):
    """Decimal digits and the position of the point: value = 0.DIGITS * 10^point."""

    text: str
    point: int


def java_double(value: float) -> str:
    """Return the text of Java's `Double.toString`."""
    bits = _LONG.unpack(_DOUBLE.pack(value))[0]
    return (
        _text(value, _parts(bits, fraction_bits=52, exponent_bits=11))
        if math.isfinite(value) and value
        else _special(value)
    )


def java_float(value: float) -> str:
    """Return the text of Java's `Float.toString`. `value` is the float as a double."""
    bits = _INT.unpack(_FLOAT.pack(value))[0]
    return (
        _text(value, _parts(bits, fraction_bits=23, exponent_bits=8))
        if math.isfinite(value) and value
        else _special(value)
    )


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    return f"{sign}0.0" if value == 0 else f"{sign}Infinity"


def _parts(bits: int, fraction_bits: int, exponent_bits: int) -> _Parts:
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    significant = fraction_bits + 1
    if exponent:
        fraction |= 1 << fraction_bits
    else:
        significant = fraction.bit_length()
        exponent = significant - fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    return _Parts(
        fraction << (_FRACTION_BITS + 1 - fraction.bit_length()), exponent - bias, significant
    )


def _text(value: float, parts: _Parts) -> str:
    digits, point = _digits(parts)
    sign = "-" if value < 0 else ""
    if 0 < point < _MAX_PLAIN_EXPONENT:
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if _MIN_PLAIN_EXPONENT < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits(parts: _Parts) -> _Digits:
    trailing_zeros = (parts.fraction & -parts.fraction).bit_length() - 1
    bits = _FRACTION_BITS + 1 - trailing_zeros
    bits_after_point = max(0, bits - parts.exponent - 1)
    if _MIN_SMALL_EXPONENT <= parts.exponent <= _MAX_SMALL_EXPONENT and not bits_after_point:
        return _whole_digits(parts)
    return _drawn_digits(parts, trailing_zeros, bits, bits_after_point)


def _whole_digits(parts: _Parts) -> _Digits:
    """Return the digits of a whole number below 2^63, rounded to its precision."""
    shift = parts.exponent - _FRACTION_BITS
    number = parts.fraction << shift if shift >= 0 else parts.fraction >> -shift
    dropped = 0
    if parts.exponent > parts.significant_bits:
        dropped = _decimal_digits_below(parts.exponent - parts.significant_bits - 1)
    if dropped:
        unit = 10**dropped
        number, rest = divmod(number, unit)
        number += rest >= unit >> 1
    text = str(number)
    return _Digits(text.rstrip("0"), len(text) + dropped)


def _decimal_digits_below(power_of_two: int) -> int:
    """Return how many whole decimal digits 2^n has."""
    return len(str(1 << power_of_two)) - 1 if power_of_two > 1 else 0


class _Scaled(NamedTuple):
    """The state while digits are computed: value = b/s * 10^exponent, and m is the margin.

    `width` is the number of bits of Java's integers, 0 for unbounded ones.
    """

    b: int
    s: int
    m: int
    exponent: int
    width: int


def _drawn_digits(parts: _Parts, trailing_zeros: int, bits: int, bits_after_point: int) -> _Digits:
    b, s, m, exponent, width = _scale(parts, trailing_zeros, bits, bits_after_point)
    tens = s * 10
    quotient, b = divmod(b, s)
    b *= 10
    m = _wrap(m * 10, width)
    low, high = _stops(b, m, tens, width)
    digits = []
    if quotient == 0 and not high:
        exponent -= 1
    else:
        digits.append(quotient)
    if exponent < _MIN_PLAIN_EXPONENT or exponent >= _MAX_PLAIN_EXPONENT:
        # The form with E has a digit after the point, so a first digit alone is never enough.
        low = high = False
    while not low and not high:
        quotient, b = divmod(b, s)
        b *= 10
        m = _wrap(m * 10, width)
        low, high = _stops(b, m, tens, width)
        digits.append(quotient)
    if high and (not low or 2 * b > tens or (2 * b == tens and digits[-1] & 1)):
        exponent += _round_up(digits)
    return _Digits("".join(map(str, digits)), exponent + 1)


def _stops(b: int, m: int, tens: int, width: int) -> tuple[bool, bool]:
    """Return whether the remainder is inside the margin below, and whether it is inside the one
    above.

    For unbounded integers, the end of the margin is inside it.
    """
    if not width:
        return b < m, b + m >= tens
    if m <= 0:
        return True, True
    return b < m, _wrap(b + m, width) > tens


def _wrap(number: int, width: int) -> int:
    """Return the number after the overflow of Java's int (32) or long (64)."""
    if not width:
        return number
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def _round_up(digits: list[int]) -> int:
    """Add one to the last digit; return 1 if that added a digit at the front, else 0.

    All nines become a 1 followed by zeros.
    """
    i = len(digits) - 1
    while i >= 0 and digits[i] == 9:
        digits[i] = 0
        i -= 1
    if i >= 0:
        digits[i] += 1
        return 0
    digits[0] = 1
    return 1


def _scale(parts: _Parts, trailing_zeros: int, bits: int, bits_after_point: int) -> _Scaled:
    """Choose b, s and m as products of powers of two and five."""
    exponent = _estimate_exponent(parts)
    b5, s5 = max(0, -exponent), max(0, exponent)
    b2 = b5 + bits_after_point + parts.exponent
    s2 = s5 + bits_after_point
    m2 = b2 - parts.significant_bits
    b2 -= bits - 1
    common = min(b2, s2)
    b2, s2, m2 = b2 - common, s2 - common, m2 - common
    if bits == 1:
        # Below a power of two the next number is only half as far away.
        m2 -= 1
    if m2 < 0:
        b2, s2, m2 = b2 - m2, s2 - m2, 0
    needed = max(bits + b2 + _bits_of_power(b5), s2 + 1 + _bits_of_power(s5 + 1))
    width = 32 if needed < 32 else 64 if needed < 64 else 0
    fraction = parts.fraction >> trailing_zeros
    return _Scaled(fraction * 5**b5 << b2, 5**s5 << s2, 5**b5 << m2, exponent, width)


def _bits_of_power(power_of_5: int) -> int:
    return _BITS_OF_POWERS_OF_5[power_of_5] if power_of_5 < _POWERS_COUNTED else power_of_5 * 3


def _estimate_exponent(parts: _Parts) -> int:
    """Return the estimated decimal exponent: from a line that approximates the logarithm near 1.5,
    in doubles as in Java.
    """
    mantissa = math.ldexp(parts.fraction, -_FRACTION_BITS)
    return math.floor(
        (mantissa - 1.5) * 0.289529654 + 0.176091259 + parts.exponent * 0.301029995663981
    )
