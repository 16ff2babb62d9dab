"""Selects the rows of a chunk that the stream has not changed since they were read."""

from collections.abc import Sequence

from relay.pipeline.copying.ready_chunk import ReadyChunk
from relay.pipeline.copying.window import Verdict
from relay.source import Cells


def unchanged_rows(ready: ReadyChunk) -> Sequence[Cells] | None:
    """Return those rows of a chunk that must be published; None if the chunk must be read again.

    A row whose newer version the stream has published is left out. The chunk must be read again if
    one of its rows changed without a message.
    """
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
