"""The end of a leadership that nobody is in a hurry about: what is open is published, so that
nothing is sent twice over the wire.
"""

from typing import Final

from relay.deadline import Deadline
from relay.model.change import TransactionEnd
from relay.pipeline.buffer import ChangeBuffer, Chunk
from relay.pipeline.publishing.publisher import Publisher

_BORDER_SECONDS: Final = 0.3
"""An open source transaction whose end does not come within this is left to be aborted, and read
again by who comes next.
"""


def drain_to_transaction_end(publisher: Publisher, buffer: ChangeBuffer) -> None:
    """Take items up to the end of the open source transaction and ask for the commit of what is
    whole.

    Raises AskedToStop, and what ends a batch.
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
    """Drop the items behind the first end of a source transaction; nobody takes them any more."""
    ends = (place for place, item in enumerate(chunk.items) if isinstance(item, TransactionEnd))
    del chunk.items[next(ends, len(chunk.items)) + 1 :]
