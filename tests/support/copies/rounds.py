"""Acts between two rounds of a first copy."""

from collections.abc import Callable
from pathlib import Path

from spark_jobs.config.job import JobSettings
from tests.support.copies.first_copies import ShutdownAfterNotes


class ActsBetweenRounds(ShutdownAfterNotes):
    """Acts once, when `lines` files of notes exist; never requests a shutdown."""

    def __init__(self, settings: JobSettings, lines: int, act: Callable[[], None]) -> None:
        super().__init__(notes(settings), lines)
        self._act, self._done = act, False

    @property
    def requested(self) -> bool:
        if super().requested and not self._done:
            self._done = True
            self._act()
        return False


def notes(settings: JobSettings) -> Path:
    """Return the folder of the job's notes."""
    return Path(settings.copy_root) / "_bootstrap"
