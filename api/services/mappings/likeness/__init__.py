"""Finds what an unmapped table resembles: a published table, or a table that a schema change tool
makes.
"""

from api.services.mappings.likeness.columns import like_columns
from api.services.mappings.likeness.tool_tables import tool_table

__all__ = ["like_columns", "tool_table"]
