"""Publishes a chunk of a copied table: the messages of its unchanged rows, and the new progress of
the copy request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from relay.errors import FormatChanged, FormatsDiffer, PartitionsDiffer, SnapshotRefused
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import OrderPair
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.order import compose
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.copying.chunk_select import MOST_PRINTED_ROWS, MOST_ROWS, columns_of
from relay.pipeline.copying.copy_run import CopyRun
from relay.pipeline.copying.named_keys import (
    check_kept_key,
    check_kept_keys,
    check_shown_keys,
    other_keys,
)
from relay.pipeline.copying.printing.bulk_rows import BulkRows
from relay.pipeline.copying.printing.copied_messages import (
    CopiedMessages,
    CopyMoment,
    RedirectedRouter,
)
from relay.pipeline.copying.printing.unchanged_rows import unchanged_rows
from relay.pipeline.copying.ready_chunk import ReadyChunk
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.table_plans import TablePlans
from relay.refine import Refinements
from relay.route import Dropped, Router
from relay.schema import Catalog, CopiedTable, DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings
from relay.source import Cells

_TOPIC_DIFFERS: Final = (FormatChanged, FormatsDiffer, PartitionsDiffer)
"""Errors of a topic that already has other rows."""


@dataclass(frozen=True, slots=True)
class PrintedChunk:
    """The messages of a chunk of a copied table, before they are put into the batch.

    ready    the chunk
    plan     how its table is published
    before   the order key before the one that all messages of the chunk share
    made     the messages of each row; not used if `printed` is set
    printed  the messages of all rows, if compiled code made them together; None: `made` has them
    """

    ready: ReadyChunk
    plan: TablePlan
    before: OrderPair
    made: list[list[OutboundMessage]]
    printed: PrintedMessages | None = None

    @property
    def rows(self) -> int:
        """The number of rows that have messages."""
        return len(self.made) if self.printed is None else self.printed.number

    @property
    def value_bytes(self) -> int:
        """The size of the messages' values in bytes."""
        if self.printed is not None:
            return self.printed.value_bytes
        return sum(len(each.value or b"") for row in self.made for each in row)


class _Shared(NamedTuple):
    """The order keys that chunks of a run share until the next change: those from `before` to
    `last`.
    """

    run: CopyRun
    before: OrderPair
    last: OrderPair


class ChunkPublisher:
    """Puts the messages of chunks of copied tables into the open batch; used by the publishing
    thread.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        checkpoint: Checkpoint,
        catalog: Catalog,
        topics: Topics,
        refinements: Refinements,
        oversize: OversizedMessages | None,
    ) -> None:
        self._instance = instance
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._catalog = catalog
        self._topics = topics
        self._refinements = refinements
        self._oversize = oversize
        self._formats = MessageFormats(instance) if oversize is None else oversize.formats
        self._bulk = BulkRows()
        self._made_for: tuple[Router, str, CopiedTable] | None = None
        self._plan: TablePlan | None = None
        self._shared: _Shared | None = None

    def printed(self, run: CopyRun, ready: ReadyChunk, router: Router) -> PrintedChunk | None:
        """Return the messages of a chunk, without changing the open batch.

        run     the copy request that read the chunk
        ready   the chunk
        router  routes by the active mapping set

        Returns None if the chunk cannot be published now. Either the mapping does not publish its
        table, or there is no order key for it yet, or its rows must be read again. Raises
        SnapshotRefused for rows that no message can hold, Unreachable, and the errors of a table
        that cannot be encoded.
        """
        plan = self._planned(ready.table, router, run.request.to_topic)
        if plan is None:
            run.skip_table()
            return None
        named = plan.refinement is not None and bool(run.request.keys)
        if named:
            self._check_keys(ready.table, run, plan)
        before = self._before(plan, run)
        if before is None:
            run.waits("no order key is free before the next transaction")
            return None
        rows = unchanged_rows(ready)
        if rows is None:
            run.read_again("a change without a message may be newer than a row that was read")
            return None
        named_keys = run.request.keys
        keys = _spelled_otherwise(ready.table, plan, named_keys, rows) if named_keys else []
        plan.take_undecodable()  # of a chunk that was printed and not published
        messages = self._of_chunk(ready.table, plan, before)
        together = self._bulk.printed(rows, messages) if self._oversize is None else None
        if together is not None:
            return PrintedChunk(_naming(ready, keys), plan, before, [], together)
        images = [ready.table.row(columns_of(cells, ready.table)) for cells in rows]
        made = [messages.of(each) for each in images]
        if named:
            for image, each in zip(images, made, strict=True):
                check_kept_keys(ready.table, plan, image, each)
        keys = [key for key, each in zip(keys, made, strict=False) if each]
        return PrintedChunk(_naming(ready, keys), plan, before, [each for each in made if each])

    def _check_keys(self, table: CopiedTable, run: CopyRun, plan: TablePlan) -> None:
        if plan.refinement is not None:
            check_shown_keys(table, run.request.keys, plan.refinement.hides)
            check_kept_key(table, plan)

    def publish(
        self, run: CopyRun, printed: PrintedChunk, recorded: Mapping[str, SnapshotProgress]
    ) -> None:
        """Put a chunk's messages and the new progress into the open batch.

        run       the copy request that read the chunk
        printed   the messages
        recorded  the progress of all requests in the position record

        Raises the errors that end a batch; the caller must then end the run.
        """
        self._add(printed)
        most = MOST_ROWS if printed.printed is None else MOST_PRINTED_ROWS
        run.published(printed.ready, printed.rows, most)
        copies = {**recorded, run.request.id: run.progress}
        logical, before = printed.plan.destination.logical, printed.before
        last = OrderPair(
            before.execute_time, before.execute_position + _positions_of_row(printed.plan)
        )
        self._checkpoint.count_copied(printed.rows, printed.value_bytes, copies, logical, last)
        self._shared = _Shared(run, before, self._progress.order)

    def _before(self, plan: TablePlan, run: CopyRun) -> OrderPair | None:
        """Return the order key before those of the chunk's rows; None if the next transaction would
        take one of these.

        That is the last key, of a change or of another request: of two requests for one row, the
        later one may have read newer values, which no change in the binlog shows. Chunks of one run
        share a key.
        """
        before, shared = self._progress.record.order, self._shared
        if shared is not None and shared.run is run and shared.last == before:
            before = shared.before
        next_key = compose(self._progress.epoch, self._progress.at)
        return before if before.execute_position + _positions_of_row(plan) < next_key else None

    def _add(self, chunk: PrintedChunk) -> None:
        plan = chunk.plan
        if undecodable := plan.take_undecodable():
            self._checkpoint.count_undecodable(undecodable)
        if chunk.printed is not None:
            if chunk.printed.number:
                self._checkpoint.add_printed(plan.routes[0].topic, chunk.printed)
            return
        if self._oversize is None:
            for of_row in chunk.made:
                for message in of_row:
                    self._checkpoint.add(message)
            return
        origin = self._of_chunk(chunk.ready.table, plan, chunk.before).origin
        order = OrderPair(chunk.before.execute_time, chunk.before.execute_position + 1)
        for of_row in chunk.made:
            self._oversize.send_row(of_row, order, origin)

    def _of_chunk(self, table: CopiedTable, plan: TablePlan, before: OrderPair) -> CopiedMessages:
        progress = self._progress
        moment = CopyMoment(
            progress.at,
            before,
            self._checkpoint.batch_number,
            self._checkpoint.publish_time_ms,
            progress.record.source.identity.server_id,
            progress.mapping.number,
        )
        return CopiedMessages(self._instance, table, plan, moment)

    def _planned(self, table: CopiedTable, router: Router, to_topic: str) -> TablePlan | None:
        """Return the plan of a table, None if the table is not published."""
        made_for = router, to_topic, table
        if made_for != self._made_for:
            definitions = TableDefinitions(
                type_text,
                self._catalog,
                DeclaredTypes(),
                marks_history=self._instance.message.marks_history,
            )
            plans = TablePlans(
                self._instance,
                RedirectedRouter(router, to_topic) if to_topic else router,
                definitions,
                self._topics,
                self._refinements,
                self._formats,
            )
            plan = _plan_of(plans, table, to_topic)
            self._plan = plan if isinstance(plan, TablePlan) else None
            self._bulk.use(table, self._plan)
            self._made_for = made_for
        return self._plan


def _plan_of(plans: TablePlans, table: CopiedTable, to_topic: str) -> TablePlan | Dropped:
    """Return the plan of a table.

    Raises SnapshotRefused if the topic that the request names has another format or other partition
    rules: other requests of the instance would wait for one that never continues.
    """
    try:
        return plans.plan(table.map)
    except _TOPIC_DIFFERS as exc:
        if not to_topic:
            raise
        raise SnapshotRefused(
            f"{exc.code}: {exc.reason}",
            remedy="Give a topic without other rows, or one with the partition settings and "
            "format of this instance.",
        ) from exc


def _spelled_otherwise(
    table: CopiedTable, plan: TablePlan, keys: Sequence[Sequence[str]], rows: Sequence[Cells]
) -> list[str]:
    """Return the key of each row that no requested key has the texts of, "" of the others."""
    return other_keys(table, plan, keys, [table.row(columns_of(each, table)) for each in rows])


def _naming(ready: ReadyChunk, keys: Sequence[str]) -> ReadyChunk:
    """Return the chunk with the keys that its request names in another spelling."""
    return replace(ready, other_keys=tuple(filter(None, keys))) if any(keys) else ready


def _positions_of_row(plan: TablePlan) -> int:
    """Return how many execute positions each row of a chunk takes, all from the same one on."""
    refinement = plan.refinement
    return 1 if refinement is None else refinement.pairs or 1
