"""`roma mapping`: documents, sets, edits."""

from relay.cli.mappings import documents, edit, sets

__all__ = ["documents", "edit", "sets"]
