"""`roma mapping`: mapping documents, mapping sets, and edits."""

from relay.cli.mappings import documents, edit, sets

__all__ = ["documents", "edit", "sets"]
