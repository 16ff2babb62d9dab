"""Reads and changes position records, and describes the effect of a change before it is made."""

from api.services.positions.desk import PositionDesk

__all__ = ["PositionDesk"]
