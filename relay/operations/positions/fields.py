"""Converts a position to JSON fields, for the command line and the admin."""

from typing import Final

from relay.operations.positions.position import Shown

_PLACES: Final = 100


def position_fields(instance: str, shown: Shown) -> dict[str, object]:
    """Return the JSON fields of an instance's position, with at most 100 earlier positions.

    Without a position record there are only `instance` and `leader`. `execute_position` is text,
    because it has 63 bits.
    """
    record = shown.record
    if record is None:
        return {"instance": instance, "leader": shown.leader}
    at = record.source
    sources = {
        name: {
            "file": each.source.binlog.file,
            "offset": each.source.binlog.offset,
            "gtid_set": each.source.gtid_set,
            "skips": list(each.skips),
        }
        for name, each in record.standing.items()
    }
    split, replay = record.split, record.replay
    return {
        "instance": instance,
        "leader": shown.leader,
        "file": at.binlog.file,
        "offset": at.binlog.offset,
        "gtid_set": at.gtid_set,
        "sources": sources if record.following else {},
        "execute_time": record.order.execute_time,
        "execute_position": str(record.order.execute_position),
        "epoch": record.epoch,
        "format": record.format,
        "half_published": None if split is None else f"{split.begin} {split.gtid}".strip(),
        "replay_until": None if replay is None else str(replay.until),
        "skips": [] if record.following else list(record.skips),
        "back_to": [str(place) for place in shown.positions_behind[:_PLACES]],
    }
