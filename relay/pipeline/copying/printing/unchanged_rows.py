"""The rows of a chunk that no change of the stream has replaced."""

from collections.abc import Sequence

from relay.pipeline.copying.ready_chunk import ReadyChunk
from relay.pipeline.copying.window import Verdict
from relay.source import Cells


def unchanged_rows(ready: ReadyChunk) -> Sequence[Cells] | None:
    """Return the rows to publish; None if the chunk must be read again."""
    window, table, rows = ready.window, ready.table, ready.chunk.rows
    if not window.has_changes:
        return rows
    found = []
    for cells in rows:
        verdict = window.verdict_of(table.key_values(cells))
        if verdict is Verdict.UNKNOWN:
            return None
        if verdict is Verdict.PUBLISHED:
            found.append(cells)
    return found
