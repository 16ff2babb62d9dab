"""What printed rows are made of: digits with leading zeros, times of day, and texts that are kept for the values met last.

A number or value that is none of its column's raises IndexError, KeyError or Refused; nothing is printed for it.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Generic, TypeVar

from relay.model.row_path import SlowReason

_Key = TypeVar("_Key")

_KEPT: Final = 16_384
"""Texts of one kind that are kept; some 2 MB."""
_DAY_SECONDS: Final = 86_400


class Kept(dict[_Key, str], Generic[_Key]):
    """Texts by value, made when they are first asked for; all are forgotten when there are too many."""

    def __init__(self, make: Callable[[_Key], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: _Key) -> str:
        text = self._make(key)
        if len(self) >= _KEPT:
            self.clear()
        self[key] = text
        return text


class Refused(Exception):
    """An event that generated code does not print; `reason` says why."""

    reason: ClassVar[SlowReason] = SlowReason.VALUE


class MovedRow(Refused):
    """An update changes the key or the partition of a row."""

    reason = SlowReason.MOVED_ROW


class Damaged(Refused):
    """An image ends behind the event."""

    reason = SlowReason.DAMAGED


def date_text(raw: bytes) -> str:
    """Return the text of DATE's three bytes: day in 5 bits, month in 4, year above."""
    number = int.from_bytes(raw, "little")
    return _day(number >> 9, number >> 5 & 15, number & 31)


def datetime_hour_text(packed: int) -> str:
    """Return date and hour, with the colon behind, of DATETIME's upper 28 bits: sign, 13 · year + month, day in 5 bits, hour in 5."""
    if not packed >> 27 or packed & 31 > 23:
        raise Refused
    months = packed >> 10 & 0x1FFFF
    return f"{_day(months // 13, months % 13, packed >> 5 & 31)} {packed & 31:02d}:"


def timestamp_hour_text(hours: int) -> str:
    """Return date and hour, with the colon behind, of the hours since 1970; -1 stands for the zero timestamp."""
    if hours < 0:
        return "0000-00-00 00:"
    # Days to civil date in whole numbers (Hinnant, chrono-Compatible Low-Level Date Algorithms).
    days = hours // 24 + 719_468
    era, day_of_era = divmod(days, 146_097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    part = (5 * day_of_year + 2) // 153
    month = part + 3 if part < 10 else part - 9
    return f"{_day(year + era * 400 + (month <= 2), month, day_of_year - (153 * part + 2) // 5 + 1)} {hours % 24:02d}:"


def time_text(precision: int) -> Callable[[bytes], str]:
    """Return the printer of TIME(precision) from its bytes: hour, minute and second in one number, then the fraction."""
    width = (precision + 1) // 2
    shift = 8 * width
    zero, limit, unit = 1 << 23 + shift, 100**width, 10 ** (2 * width - precision)

    def text(raw: bytes) -> str:
        value = int.from_bytes(raw, "big") - zero
        sign, value = ("-", -value) if value < 0 else ("", value)
        clock, fraction = value >> shift, value & (1 << shift) - 1
        hour, minute, second = clock >> 12, clock >> 6 & 63, clock & 63
        if hour > 838 or minute > 59 or second > 59 or fraction >= limit:
            raise Refused
        behind = f".{fraction // unit:0{precision}d}" if precision else ""
        return f"{sign}{hour:02d}:{minute:02d}:{second:02d}{behind}"

    return text


def set_text(labels: tuple[str, ...]) -> Callable[[int], str]:
    """Return the printer of a SET from its mask; `labels` as they stand in JSON."""

    def text(mask: int) -> str:
        if mask >> len(labels):
            raise Refused
        return ",".join(label for bit, label in enumerate(labels) if mask >> bit & 1)

    return text


def _day(year: int, month: int, day: int) -> str:
    if year > 9999 or month > 12:
        raise Refused
    return f"{year:04d}-{month:02d}-{day:02d}"


def _seconds_by_bits() -> dict[int, str]:
    return {minute << 6 | second: f"{minute:02d}:{second:02d}" for minute in range(60) for second in range(60)}


def table_names() -> Mapping[str, object]:
    """Return the names by which generated code finds the texts of this module."""
    return {
        "T1": tuple(map(str, range(10))),
        "T2": tuple(f"{i:02d}" for i in range(100)),
        "T3": tuple(f"{i:03d}" for i in range(1000)),
        "B3": tuple(b"%03d" % i for i in range(1000)),
        "DATE": Kept(date_text),
        "DATETIME_HOUR": Kept(datetime_hour_text),
        "TIMESTAMP_HOUR": Kept(timestamp_hour_text),
        "BITS_SECOND": _seconds_by_bits(),
        "SECOND": tuple(f"{i // 60:02d}:{i % 60:02d}" for i in range(3600)),
        "YEAR": ("0000", *(str(1900 + i) for i in range(1, 256))),
        "TIME": tuple(Kept(time_text(precision)) for precision in range(7)),
    }
