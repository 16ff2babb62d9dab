"""A change on its way to the service."""

from typing import NamedTuple

from roma_client.records.ack_book import Receipt
from roma_client.records.change import Change
from roma_client.records.record import Record


class Delivery(NamedTuple):
    """One change with what acknowledges it, and the record that it came in."""

    change: Change
    receipt: Receipt
    record: Record
