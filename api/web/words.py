"""Formats numbers, times and sizes for pages."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

_NONE: Final = "\N{EN DASH}"
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")
_THOUSAND: Final = 1000
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_AFTER_A_WORD: Final = ".,:;!?"
_TENTHS_BELOW: Final = 10
"""Numbers below this are written with one decimal place."""


def number(value: float | None) -> str:
    """Return a number with thousands separators: 12,480. None gives a dash."""
    if value is None:
        return _NONE
    whole = isinstance(value, int) or value == 0 or value >= _TENTHS_BELOW
    return f"{value:,.0f}" if whole else f"{value:,.1f}"


def duration(seconds: float | None) -> str:
    """Return a duration in at most two units: 0.4 s, 38 min, 2 h 18 min. None gives a dash."""
    if seconds is None:
        return _NONE
    if seconds < _MINUTE:
        return f"{seconds:.1f} s" if seconds < _TENTHS_BELOW else f"{seconds:.0f} s"
    whole = int(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        return _two(whole // _HOUR, "h", whole % _HOUR // _MINUTE, "min")
    return _two(whole // _DAY, "d", whole % _DAY // _HOUR, "h")


def size(count: float | None) -> str:
    """Return a number of bytes in decimal units: 8.6 GB. None gives a dash."""
    if count is None:
        return _NONE
    power = 0
    while count >= _THOUSAND and power < len(_UNITS) - 1:
        count, power = count / _THOUSAND, power + 1
    return f"{number(count if power else int(count))} {_UNITS[power]}"


def clock(ms: int) -> str:
    """Return a time (Unix milliseconds) in UTC as 09:14:02 UTC, with the date unless it is
    today.
    """
    moment = _utc(ms)
    time = f"{moment:%H:%M:%S} UTC"
    same_day = moment.date() == datetime.now(UTC).date()
    return time if same_day else f"{moment.day} {moment:%b}, {time}"


def fine_clock(ms: int) -> str:
    """Return a time (Unix milliseconds) in UTC as 09:14:02.231 UTC, with the date unless it is
    today.
    """
    moment = _utc(ms)
    time = f"{moment:%H:%M:%S}.{ms % 1000:03d} UTC"
    same_day = moment.date() == datetime.now(UTC).date()
    return time if same_day else f"{moment.day} {moment:%b}, {time}"


def short_clock(ms: int) -> str:
    """Return a time (Unix milliseconds) in UTC as 09:14, with the date unless it is today."""
    moment = _utc(ms)
    time = f"{moment:%H:%M}"
    same_day = moment.date() == datetime.now(UTC).date()
    return time if same_day else f"{moment.day} {moment:%b}, {time}"


def iso(ms: int) -> str:
    """Return a time (Unix milliseconds) as RFC 3339 text in UTC, with milliseconds."""
    return _utc(ms).isoformat(timespec="milliseconds")


def sentence(text: str, names: Collection[str] = ()) -> str:
    """Return `text` with its first letter in upper case, unless its first word is a name.

    Names are those in `names`, and every word that contains other characters than letters, such as
    `shop.orders` and `ads-3`.
    """
    first = text.partition(" ")[0].rstrip(_AFTER_A_WORD)
    is_name = first in names or not first.replace("'", "").isalpha()
    return text if is_name else text[:1].upper() + text[1:]


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: 1 instance, 12,480 rows.

    `plural` is the noun for other numbers than 1; empty: `singular` with an "s".
    """
    return f"{number(count)} {singular if count == 1 else plural or singular + 's'}"


def _utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first} {unit} {second} {smaller}" if second else f"{first} {unit}"
