"""Chooses which position records are kept as history. If an operator moves the position back, the
relay takes the order key from the history, so rows are published again with the same order keys.

The history has one record of each minute for a day, and one of each hour for sixty days. The key of
a record is the name of its slot, for example `m0017`. In the compacted topic the record replaces
the one that had this slot one day (or sixty days) earlier.
"""

from typing import Final

from relay.model.records.position_record import PositionRecord

_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 60 * _MINUTE_MS
_MINUTES_KEPT: Final = 24 * 60
_HOURS_KEPT: Final = 60 * 24


class HistorySchedule:
    """Chooses the history keys of a record. Only the committing thread uses it."""

    def __init__(self) -> None:
        self._minute = self._hour = -1

    def due(self, record: PositionRecord, now_ms: int) -> list[str]:
        """Return the history keys under which this record must be stored; `now_ms` is Unix time.

        Empty in a split transaction or a replay, whose order keys are not final.
        """
        if record.split is not None or record.replay is not None:
            return []
        minute, hour = now_ms // _MINUTE_MS, now_ms // _HOUR_MS
        slots = [f"m{minute % _MINUTES_KEPT:04d}"] if minute != self._minute else []
        slots += [f"h{hour % _HOURS_KEPT:04d}"] if hour != self._hour else []
        self._minute, self._hour = minute, hour
        return slots
