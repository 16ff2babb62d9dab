"""A chunk of a copied table that was read and not yet converted to messages."""

from dataclasses import dataclass, replace

from relay.model.records.snapshot_progress import SnapshotProgress
from relay.pipeline.copying.chunk_select import end_of, is_last
from relay.pipeline.copying.window import Window
from relay.schema import CopiedTable
from relay.source import ReadChunk


@dataclass(frozen=True, slots=True)
class ReadyChunk:
    """A chunk of a table that may be published now.

    table       the table
    chunk       the rows that were read
    window      the changes of the table while the chunk was read
    limit       the LIMIT of the SELECT that read it
    other_keys  keys of its rows that the request names in another spelling
    """

    table: CopiedTable
    chunk: ReadChunk
    window: Window
    limit: int
    other_keys: tuple[str, ...] = ()

    @property
    def is_last(self) -> bool:
        """Return whether the table has no rows after this chunk."""
        return is_last(self.chunk, self.limit)

    def progress_after(self, before: SnapshotProgress, rows: int) -> SnapshotProgress:
        """Return the progress after this chunk is published.

        `before` is the present progress, and `rows` is how many rows of the chunk have messages.
        """
        name = str(self.table.map.id)
        read = replace(
            before,
            table=name,
            key=self.table.key_names,
            key_types=self.table.key_types,
            after=end_of(self.table, self.chunk, self.limit),
            rows=before.rows + rows,
            tables=before.tables + self.is_last,
        ).with_other_keys(self.other_keys)
        return read.finishing(name) if self.is_last else read
