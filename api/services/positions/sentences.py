"""Describes the effects of acts on the position record in sentences."""

from api.models.position import PositionView


def skip_sentences(now: PositionView, gtid: str, *, undo: bool) -> list[str]:
    """Return sentences about the effect of skipping a transaction, or with `undo` of withdrawing
    that.

    now   the present position
    gtid  the transaction
    """
    if undo:
        return [
            f"{gtid} is published like every other transaction, if the relay has not reached it.",
            *_fenced(now),
        ]
    return [
        f"No row of {gtid} is ever published, to any topic.",
        "Copies of its tables lack these changes until you copy the tables again.",
        "After the relay has skipped it, the audit trail names its tables and counts its rows.",
        "Until the relay reaches it, you can take this back here.",
        *_fenced(now),
    ]


def floor_sentences(now: PositionView, above: PositionView) -> list[str]:
    """Return sentences about the effect of raising order keys above those of another instance.

    now    present position of the instance whose order keys are raised
    above  position of the other instance
    """
    mine, other = now.instance, above.instance
    return [
        f"{mine} has published up to order key {_order(now)}, {other} up to {_order(above)}.",
        f"The next rows of {mine} get order keys above both.",
        "Consumers see no other change. Nothing is published again or left out.",
        f"Do this before you move a shard from {other} to {mine}.",
        "Consumers then see the shard's next changes as newer than all published ones.",
        *_fenced(now),
    ]


def _order(position: PositionView) -> str:
    return f"{position.execute_time or 0}.{position.execute_position}"


def _fenced(now: PositionView) -> list[str]:
    if now.leader is None:
        return []
    return [
        f"{now.leader} leads {now.instance}. Kafka fences it at the old record.",
        "It continues with the new record.",
    ]
