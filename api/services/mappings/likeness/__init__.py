"""What an unmapped table resembles: a published table, or one of a schema change tool."""

from api.services.mappings.likeness.columns import like_columns
from api.services.mappings.likeness.tool_tables import tool_table

__all__ = ["like_columns", "tool_table"]
