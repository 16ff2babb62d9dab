"""Converts records of the relay into changes: Canal's flat JSON with the relay's headers."""

from roma_client.records.decoding.reading import Decoder, Reading, changes_of

__all__ = ["Decoder", "Reading", "changes_of"]
