"""Reads the messages of a logical table for callers: rights, limits, and the audit trail."""

from api.services.peek.asked import AskedPeek
from api.services.peek.desk import PeekDesk, Reading
from api.services.peek.notes import PeekNotes
from api.services.peek.offsets import PeekOffsets

__all__ = ["AskedPeek", "PeekDesk", "PeekNotes", "PeekOffsets", "Reading"]
