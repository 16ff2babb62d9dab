"""Readings of stores that are kept for the time while their server does not answer."""

from api.readings.last_reading import LastReading, Reading

__all__ = ["LastReading", "Reading"]
