"""Rows straight from the bytes of an event to messages where no compiler was at hand: by Python that is written for each table."""

from relay.generated.column_source import ColumnPlan, Extra
from relay.generated.kinds import Kind
from relay.generated.row_printer import RowPrinter

__all__ = ["ColumnPlan", "Extra", "Kind", "RowPrinter"]
