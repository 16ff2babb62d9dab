"""Describes the effect of a mapping change on consumers, by the kind of the change."""

from collections.abc import Mapping
from typing import Final

from relay.route import ChangeKind

CONSEQUENCES: Final[Mapping[ChangeKind, str]] = {
    "left_out": ("Consumers get no further messages of these tables. Nothing is deleted in Kafka."),
    "stopped": "An instance stops at the first row of these tables.",
    "covered": (
        "Their rows are published from the next source transaction on. Rows that exist already "
        "come by a table copy, or by roma bootstrap."
    ),
    "moved": (
        "Consumers must read the new topic from then on. Messages that are in Kafka stay where "
        "they are."
    ),
    "renamed": (
        "Their keys change: consumers see the rows as new rows of the new name, and they may go "
        "to other partitions. Copy the tables of the new name again."
    ),
    "retagged": "Consumers that choose messages by the header tag must use the new tags.",
    "note": "",
}
