"""Reads the order headers of a record: the order key of each of its rows."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from roma_client.records.change import Order, new_tuple
from roma_client.records.record import ORDER, ORDERS

Headers: TypeAlias = Mapping[str, bytes | None]

_TIME_DIGITS: Final = 13
_POSITION_AT: Final = _TIME_DIGITS + 1
_LENGTH: Final = _POSITION_AT + 19
"""An order header is 13 digits, a dot, and 19 digits."""


def orders_of(headers: Headers, rows: int) -> Sequence[Order]:
    """Return the order key of each of `rows` rows. Raises ValueError if the headers have another
    form.
    """
    first, distances = order_of(headers.get(ORDER) or b""), headers.get(ORDERS)
    if distances is None and rows == 1:
        return (first,)
    found = [int(each) for each in (distances or b"0").decode().split(",")]
    if len(found) != rows:
        raise ValueError(f"{rows} rows have {len(found)} orders")
    time, position = first
    return [Order(time, position + each) for each in found]


def order_of(text: bytes) -> Order:
    """Return the order key in a header. Raises ValueError for another text."""
    time, dot, position = text[:_TIME_DIGITS], text[_TIME_DIGITS:_POSITION_AT], text[_POSITION_AT:]
    is_order = len(text) == _LENGTH and dot == b"." and time.isdigit() and position.isdigit()
    if not is_order:
        raise ValueError(f"{text!r} is not an order header")
    return new_tuple(Order, (int(time), int(position)))


class OrderReader:
    """Reads order headers. It is faster for consecutive records with the same execute time."""

    __slots__ = ("_begin", "_time")

    def __init__(self) -> None:
        self._begin: bytes | None = None  # the time and the dot of the newest header
        self._time = 0

    def order(self, text: bytes) -> Order:
        """Return the order key in a header, as `order_of` does. Raises ValueError for another
        text.
        """
        position = text[_POSITION_AT:]
        if text[:_POSITION_AT] == self._begin and len(text) == _LENGTH and position.isdigit():
            return new_tuple(Order, (self._time, int(position)))
        found = order_of(text)
        self._begin, self._time = text[:_POSITION_AT], found.execute_time
        return found
