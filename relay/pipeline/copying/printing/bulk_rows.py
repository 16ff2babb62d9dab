"""Prints the rows of a chunk with the compiled printer of row events, many rows at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from relay.encode import headers_behind_order
from relay.model.message import PrintedMessages, joined
from relay.pipeline.copying.printing.chunk_images import image_writer
from relay.pipeline.copying.printing.copied_messages import MARK, CopiedMessages
from relay.pipeline.messages.printing.event_printer import ORDER_NAMES, EventPrinter
from relay.pipeline.messages.table_plan import TablePlan
from relay.schema import CopiedTable
from relay.source import Cells

if TYPE_CHECKING:
    from relay.compiled.chunk_images import ImageWriter

_PART_ROWS: Final = 64
"""Rows printed together: their data fits into the processor's caches."""


class BulkRows:
    """Prints rows of the table that `use` set last; used by the publishing thread."""

    def __init__(self) -> None:
        self._writer: ImageWriter | None = None
        self._plan: TablePlan | None = None

    def use(self, table: CopiedTable, plan: TablePlan | None) -> None:
        """Set the table and plan of the next rows. `plan` None: the table is not published."""
        self._plan = plan
        bulk = plan is not None and plan.refinement is None and plan.rows.compiles_copies
        prints = bulk and plan is not None and isinstance(plan.printer, EventPrinter)
        self._writer = image_writer(table) if prints else None

    def printed(self, rows: Sequence[Cells], messages: CopiedMessages) -> PrintedMessages | None:
        """Return the messages of the rows; None if they must be printed row by row.

        Raises SnapshotRefused for a message that is too large for its topic.
        """
        writer, plan = self._writer, self._plan
        if writer is None or plan is None or not isinstance(plan.printer, EventPrinter):
            return None
        tail = (*headers_behind_order(plan.printed_headers, messages.context.origin), *MARK)
        parts = [PrintedMessages(0, 0, b"", ORDER_NAMES, tail)]
        undecodable = plan.rows.undecodable_values
        for at in range(0, len(rows), _PART_ROWS):
            body = writer.body(rows[at : at + _PART_ROWS])
            part = (
                None
                if body is None
                else plan.printer.copied(body, messages.context.frame, messages.order, tail)
            )
            if part is None:
                plan.rows.undecodable_values = undecodable
                return None
            messages.check_sizes(part)
            parts.append(part)
        return joined(parts)
