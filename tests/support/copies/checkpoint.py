"""Reads the batches in the checkpoint of a stream."""

from pathlib import Path

from spark_jobs.config.job import JobSettings


def begun(settings: JobSettings) -> frozenset[str]:
    """Return the numbers of the batches whose offsets the checkpoint has."""
    return _noted(settings, "offsets")


def cut_off(settings: JobSettings) -> int:
    """Return the number of batches that were begun and not completed."""
    return len(begun(settings) - _noted(settings, "commits"))


def _noted(settings: JobSettings, what: str) -> frozenset[str]:
    assert settings.checkpoint is not None
    return frozenset(path.name for path in (Path(settings.checkpoint) / what).glob("[0-9]*"))
