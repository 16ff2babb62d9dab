"""Decodes temporal values into the texts that the server prints (MySQL manual: Date and Time Data
Type Representation).

The functions `…_reader` return a function `(body, pos) → text`. It may be called for truncated
bytes; the row reader detects that afterwards.
"""

from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final, TypeAlias

from relay.decode.values.malformed import Malformed

TextReader: TypeAlias = Callable[[bytes, int], str]

MAX_PRECISION: Final = 6
_DATETIME_SIGN: Final = 1 << 39
_TIME_SIGN: Final = 1 << 23
_MAX_HOURS: Final = 838
_MAX_YEAR: Final = 9999
_MAX_MONTH: Final = 12
_MAX_DAY: Final = 31
_SECONDS_PER_DAY: Final = 86_400
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
# Number of cached dates: the days of 45 years. Streams contain few different days.
_DAYS_CACHED: Final = 16_384
# The tables also check the value: an index after their end is no minute or hour.
_SIXTY: Final = tuple(f"{n:02d}" for n in range(60))
_HOURS: Final = tuple(f"{n:02d}" for n in range(24))
_DURATION_HOURS: Final = tuple(f"{n:02d}" for n in range(_MAX_HOURS + 1))


def fraction_bytes(precision: int) -> int:
    """Return the number of bytes of a fraction with `precision` digits."""
    if precision > MAX_PRECISION:
        raise Malformed(f"{precision} fractional digits")
    return (precision + 1) // 2


def date_text(year: int, month: int, day: int) -> str:
    """Return `YYYY-MM-DD`. Zero parts are allowed; Malformed is raised for impossible ones."""
    if year > _MAX_YEAR or month > _MAX_MONTH or day > _MAX_DAY:
        raise Malformed(f"{year}-{month}-{day} is not a date")
    return f"{year:04d}-{month:02d}-{day:02d}"


@lru_cache(maxsize=_DAYS_CACHED)
def _packed_day(packed: int) -> str:
    year, month = divmod(packed >> 5, 13)
    return date_text(year, month, packed & 31)


@lru_cache(maxsize=_DAYS_CACHED)
def _day_since_1970(days: int) -> str:
    return date.fromordinal(_EPOCH_DAY + days).isoformat()


@lru_cache(maxsize=_DAYS_CACHED)
def _date_of_three_bytes(packed: int) -> str:
    return date_text(packed >> 9, packed >> 5 & 15, packed & 31)


def read_date(body: bytes, pos: int) -> str:
    """Return the text of a DATE: 3 bytes, little-endian, year(15) month(4) day(5)."""
    return _date_of_three_bytes(body[pos] | body[pos + 1] << 8 | body[pos + 2] << 16)


def clock_text(seconds_packed: int) -> str:
    """Return `HH:MM:SS` of packed bits: hour(5) minute(6) second(6)."""
    hours, minutes = _HOURS[seconds_packed >> 12], _SIXTY[seconds_packed >> 6 & 63]
    return f"{hours}:{minutes}:{_SIXTY[seconds_packed & 63]}"


def fraction_text(fraction: int, precision: int) -> str:
    """Return `.` and `precision` digits of a stored fraction; "" for precision 0."""
    if not precision:
        return ""
    digits = fraction_bytes(precision) * 2
    if fraction >= 10**digits:
        raise Malformed(f"{fraction} is not a fraction of {digits} digits")
    return f".{fraction:0{digits}d}"[: precision + 1]


def datetime2_reader(precision: int) -> TextReader:
    """Return a reader of DATETIME2: 5 bytes, big-endian, sign(1) year*13+month(17) day(5) hour(5)
    minute(6) second(6); then the fraction.
    """
    width = 5 + fraction_bytes(precision)
    shift = 8 * (width - 5)
    mask = (1 << shift) - 1

    def read(body: bytes, pos: int) -> str:
        raw = int.from_bytes(body[pos : pos + width], "big")
        whole = (raw >> shift) - _DATETIME_SIGN
        if whole < 0:
            raise Malformed("a DATETIME is negative")
        return (
            f"{_packed_day(whole >> 17)} "
            f"{clock_text(whole & 0x1FFFF)}{fraction_text(raw & mask, precision)}"
        )

    return read


def timestamp2_reader(precision: int) -> TextReader:
    """Return a reader of TIMESTAMP2: 4 bytes, big-endian, seconds since 1970 in UTC; then the
    fraction.

    Zero is printed as the zero date.
    """
    width = 4 + fraction_bytes(precision)
    shift = 8 * (width - 4)
    mask = (1 << shift) - 1
    zero = timestamp_text(0) + fraction_text(0, precision)

    def read(body: bytes, pos: int) -> str:
        raw = int.from_bytes(body[pos : pos + width], "big")
        if not raw:
            return zero
        return f"{_moment(raw >> shift)}{fraction_text(raw & mask, precision)}"

    return read


def timestamp_text(seconds: int) -> str:
    """Return the text of a TIMESTAMP in UTC; 0 is the zero date."""
    return _moment(seconds) if seconds else "0000-00-00 00:00:00"


def _moment(seconds: int) -> str:
    days, rest = divmod(seconds, _SECONDS_PER_DAY)
    minutes, second = divmod(rest, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_day_since_1970(days)} {_HOURS[hour]}:{_SIXTY[minute]}:{_SIXTY[second]}"


def time2_reader(precision: int) -> TextReader:
    """Return a reader of TIME2: 3 bytes, big-endian, sign(1) unused(1) hour(10) minute(6)
    second(6); then the fraction.

    A negative time is the two's complement of time and fraction together.
    """
    width = 3 + fraction_bytes(precision)
    shift = 8 * (width - 3)
    mask = (1 << shift) - 1
    zero = _TIME_SIGN << shift

    def read(body: bytes, pos: int) -> str:
        raw = int.from_bytes(body[pos : pos + width], "big") - zero
        sign = "-" if raw < 0 else ""
        raw = abs(raw)
        return f"{sign}{duration_text(raw >> shift)}{fraction_text(raw & mask, precision)}"

    return read


def duration_text(packed: int) -> str:
    """Return `HH:MM:SS` of packed bits: hour(10) minute(6) second(6). Hours are at most 838."""
    return f"{_DURATION_HOURS[packed >> 12]}:{_SIXTY[packed >> 6 & 63]}:{_SIXTY[packed & 63]}"


def read_old_time(body: bytes, pos: int) -> str:
    """Return the text of a TIME of MySQL before 5.6: 3 bytes, little-endian, signed, decimal digits
    HHHMMSS.
    """
    number = int.from_bytes(body[pos : pos + 3], "little", signed=True)
    hour, rest = divmod(abs(number), 10_000)
    minute, second = divmod(rest, 100)
    return f"{'-' if number < 0 else ''}{_DURATION_HOURS[hour]}:{_SIXTY[minute]}:{_SIXTY[second]}"


def read_old_datetime(body: bytes, pos: int) -> str:
    """Return the text of a DATETIME of MySQL before 5.6: 8 bytes, little-endian, decimal digits
    YYYYMMDDHHMMSS.
    """
    day, clock = divmod(int.from_bytes(body[pos : pos + 8], "little"), 1_000_000)
    year, rest = divmod(day, 10_000)
    hour, seconds = divmod(clock, 10_000)
    return (
        f"{date_text(year, rest // 100, rest % 100)} "
        f"{_HOURS[hour]}:{_SIXTY[seconds // 100]}:{_SIXTY[seconds % 100]}"
    )


def read_old_timestamp(body: bytes, pos: int) -> str:
    """Return the text of a TIMESTAMP of MySQL before 5.6: 4 bytes, little-endian, seconds since
    1970 in UTC.
    """
    return timestamp_text(int.from_bytes(body[pos : pos + 4], "little"))


def packed_datetime_text(packed: int, *, date_only: bool) -> str:
    """Return the text of a DATE or DATETIME in binary JSON.

    packed  64 bits: the microseconds in the low 24 bits, and date and time as in DATETIME2 above
    """
    whole = packed >> 24
    if packed < 0:
        raise Malformed("a DATETIME is negative")
    day = _packed_day(whole >> 17)
    return (
        day
        if date_only
        else f"{day} {clock_text(whole & 0x1FFFF)}{fraction_text(packed & 0xFFFFFF, MAX_PRECISION)}"
    )


def packed_time_text(packed: int) -> str:
    """Return the text of a TIME in binary JSON: 64 bits, signed, the parts of TIME2 << 24 |
    microseconds.
    """
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    return f"{sign}{duration_text(packed >> 24)}{fraction_text(packed & 0xFFFFFF, MAX_PRECISION)}"
