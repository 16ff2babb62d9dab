"""Keeps what was last read from a store, for the time while the store's server does not answer."""

from api.readings.last_reading import LastReading, Reading

__all__ = ["LastReading", "Reading"]
