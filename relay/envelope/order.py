"""The `order` header: execute time and execute position as one text that sorts in the order of the
changes.

A message with several rows has a second header, `orders`, with each row's own position.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from relay.envelope.fields import Header

TIME_DIGITS: Final = 13
POSITION_DIGITS: Final = 19
ORDER_WIDTH: Final = TIME_DIGITS + 1 + POSITION_DIGITS
"""Length of an order header in characters, each of which is one byte."""

_MAX_TIME_MS: Final = 10**TIME_DIGITS - 1
_MAX_POSITION: Final = (1 << 63) - 1
_OFFSETS: Final = re.compile(r"0(,[1-9][0-9]*)*", re.ASCII)
_ORDER: Final = re.compile(rf"([0-9]{{{TIME_DIGITS}}})\.([0-9]{{{POSITION_DIGITS}}})", re.ASCII)


class Order(NamedTuple):
    """The order key in a message's header. The change with the smaller order key came first."""

    execute_time: int
    execute_position: int


def order_text(execute_time: int, execute_position: int) -> str:
    """Return the text of an order header; its length is ORDER_WIDTH.

    execute_time      Unix milliseconds
    execute_position  63 bits

    Raises ValueError if a value is negative or too large.
    """
    if not 0 <= execute_time <= _MAX_TIME_MS:
        raise ValueError(f"execute time {execute_time} does not fit into {TIME_DIGITS} digits")
    if not 0 <= execute_position <= _MAX_POSITION:
        raise ValueError(f"execute position {execute_position} does not fit into 63 bits")
    return f"{execute_time:0{TIME_DIGITS}d}.{execute_position:0{POSITION_DIGITS}d}"


def parse_order(text: str | bytes) -> Order:
    """Return the order key of an `order` header. Raises ValueError for any other text."""
    decoded = text.decode("latin-1") if isinstance(text, bytes) else text
    match = _ORDER.fullmatch(decoded)
    if match is None or int(match[2]) > _MAX_POSITION:
        raise ValueError(
            f"{decoded!r} is not an order header: that is an execute time of {TIME_DIGITS} digits, "
            f"a dot, and an execute position of {POSITION_DIGITS} digits below 2^63"
        )
    return Order(int(match[1]), int(match[2]))


def order_of(headers: Iterable[tuple[str, bytes]]) -> Order | None:
    """Return the order key in the first `order` header of a record.

    Returns None if the record has no such header, or if its text is not one that the relay writes.
    """
    found = next((value for name, value in headers if name == Header.ORDER.value), None)
    try:
        return None if found is None else parse_order(found)
    except ValueError:
        return None


def orders_text(positions: Sequence[int]) -> str:
    """Return the text of the header `orders` for rows with these execute positions.

    It is a comma-separated list with one number for each row: its execute position minus that of
    the first row, which is in the header `order`. All rows of a message have one execute time.

    Raises ValueError if the positions do not rise.
    """
    if not positions or any(left >= right for left, right in pairwise(positions)):
        raise ValueError(
            f"the execute positions of a message's rows must rise, and are {list(positions)}"
        )
    return ",".join(str(position - positions[0]) for position in positions)


def row_orders(order: str | bytes, orders: str | bytes | None) -> list[Order]:
    """Return the order key of each row of a message, from its headers `order` and `orders`.

    `orders` None: the message has one row. Raises ValueError if a header has another form.
    """
    first = parse_order(order)
    if orders is None:
        return [first]
    decoded = orders.decode("latin-1") if isinstance(orders, bytes) else orders
    if _OFFSETS.fullmatch(decoded) is None:
        raise ValueError(
            f"{decoded!r} is not an orders header: that is a list of numbers, separated by commas"
        )
    pairs = [
        Order(first.execute_time, first.execute_position + int(offset))
        for offset in decoded.split(",")
    ]
    if pairs != sorted(set(pairs)):
        raise ValueError(f"{decoded!r} is not an orders header: its numbers do not rise")
    if pairs[-1].execute_position > _MAX_POSITION:
        raise ValueError(
            f"{decoded!r} is not an orders header of a message whose first order key is {first}: "
            "the last execute position is above 2^63 - 1"
        )
    return pairs
