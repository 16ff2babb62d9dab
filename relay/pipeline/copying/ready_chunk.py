"""A chunk that was read and is not yet printed."""

from dataclasses import dataclass, replace

from relay.model.records.snapshot_progress import SnapshotProgress
from relay.pipeline.copying.chunk_select import end_of, is_last
from relay.pipeline.copying.window import Window
from relay.schema import CopiedTable
from relay.source import ReadChunk


@dataclass(frozen=True, slots=True)
class ReadyChunk:
    """A chunk that may be published now, with the window that it was read in."""

    table: CopiedTable
    chunk: ReadChunk
    window: Window
    limit: int

    @property
    def is_last(self) -> bool:
        """Whether the table has no further rows."""
        return is_last(self.chunk, self.limit)

    def progress_after(self, before: SnapshotProgress, rows: int) -> SnapshotProgress:
        """Return the progress when this chunk is published, as `rows` rows of messages."""
        name = str(self.table.map.id)
        read = replace(
            before,
            table=name,
            key=self.table.key_names,
            key_types=self.table.key_types,
            after=end_of(self.table, self.chunk, self.limit),
            rows=before.rows + rows,
            tables=before.tables + self.is_last,
        )
        return read.finishing(name) if self.is_last else read
