"""What the checkpoint of a stream says of its batches."""

from pathlib import Path

from spark_jobs.config.job import JobSettings


def begun(settings: JobSettings) -> frozenset[str]:
    """The numbers of the batches whose offsets are noted."""
    return _noted(settings, "offsets")


def cut_off(settings: JobSettings) -> int:
    """How many batches were begun and are not noted as done."""
    return len(begun(settings) - _noted(settings, "commits"))


def _noted(settings: JobSettings, what: str) -> frozenset[str]:
    assert settings.checkpoint is not None
    return frozenset(path.name for path in (Path(settings.checkpoint) / what).glob("[0-9]*"))
