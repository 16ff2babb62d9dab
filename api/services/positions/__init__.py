"""Reads and changes position records, and says beforehand what a change means."""

from api.services.positions.desk import PositionDesk

__all__ = ["PositionDesk"]
