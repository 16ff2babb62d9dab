"""A change that was read, and that is not yet acknowledged."""

from typing import NamedTuple

from roma_client.records.ack_book import Receipt
from roma_client.records.change import Change
from roma_client.records.record import Record


class Delivery(NamedTuple):
    """One change, the receipt that acknowledges it, and its record."""

    change: Change
    receipt: Receipt
    record: Record
