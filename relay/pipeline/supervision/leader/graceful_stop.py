"""Ends the leadership gracefully: publishes the open batch, so that the next leader does not send
it again.
"""

from typing import Final

from relay.deadline import Deadline
from relay.model.change import TransactionEnd
from relay.pipeline.buffer import ChangeBuffer, Chunk
from relay.pipeline.publishing.publisher import Publisher

_BORDER_SECONDS: Final = 0.3
"""Seconds to wait for the end of the open source transaction.

Otherwise it is aborted, and the next leader reads it again.
"""


def drain_to_transaction_end(publisher: Publisher, buffer: ChangeBuffer) -> None:
    """Take items up to the end of the open source transaction, for up to 0.3 seconds, and request
    the commit.

    If the end does not arrive, nothing of the transaction is committed. Raises AskedToStop, and the
    errors that end a batch.
    """
    border = Deadline.after(_BORDER_SECONDS)
    while not publisher.progress.whole and not border.passed:
        chunk = buffer.take(border.remaining_s)
        drop_after_transaction_end(chunk)
        publisher.take(chunk)
    publisher.checkpoint.await_commit()
    if publisher.progress.whole:
        publisher.checkpoint.commit_if_due(idle=True)


def drop_after_transaction_end(chunk: Chunk) -> None:
    """Remove the items after the first end of a source transaction from the chunk."""
    ends = (place for place, item in enumerate(chunk.items) if isinstance(item, TransactionEnd))
    del chunk.items[next(ends, len(chunk.items)) + 1 :]
