"""Bodies of requests and answers about dead letters."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from api.models.peek import COLUMN_EXAMPLE, PeekedColumnView
from api.services.peek.change_summary import change_summary
from relay.dead_letters import DamagedDeadLetter, LaterChanges, ListedDeadLetter
from relay.kafka import message_bytes
from relay.operations import LetterRows, PeekedRow


class DeadLetterView(BaseModel):
    """A message or row that was not published.

    The value has its own endpoint, because it may be large.
    """

    id: str
    code: str = Field(description="Why it was kept back.", examples=["MESSAGE_TOO_LARGE"])
    reason: str
    real: str = Field(description="The source's `database.table`.")
    logical: str
    file: str = Field(description="Binlog file where the source transaction begins.")
    offset: int
    gtid: str
    execute_time: int
    execute_position: str = Field(
        description="63 bits as text, because many JSON readers round numbers above 2^53."
    )
    topic: str = Field(description="Topic to which its message was to be sent.")
    partition: int = Field(description="-1 where no message could be made.")
    key: str | None = Field(
        description="The message's key as text; null: the message has no key, or `key_hidden` is "
        "true."
    )
    key_hidden: bool = Field(
        description="The caller lacks the right `values`, or a mask covers the key, or may cover "
        "it."
    )
    value_bytes: int
    is_message: bool = Field(
        description="False: the row could not be encoded, and the value is the row as it was read."
    )
    written_ms: int
    replayed_by: str | None = Field(description="Who sent it since; null: it was not sent.")
    replayed_ms: int | None
    record_offset: int = Field(
        description="Offset of its record in the topic of the dead letters; of the first one if "
        "it has several."
    )
    damaged: bool = Field(
        description="True: it cannot be read. `reason` says what is wrong, `remedy` what to do, "
        "and the fields of its message are empty."
    )
    remedy: str = Field(description="What to do about a damaged dead letter; otherwise empty.")

    @classmethod
    def of(cls, listed: ListedDeadLetter, *, key_hidden: bool) -> "DeadLetterView":
        """Return the view of a dead letter without its value, and without a hidden key.

        In a key, bytes that are not UTF-8 are replaced by U+FFFD.
        """
        letter, message, replay = listed.letter, listed.letter.message, listed.replay
        key = None if key_hidden or message.key is None else message.key
        return cls(
            id=letter.id,
            code=letter.code,
            reason=letter.reason,
            real=letter.real,
            logical=letter.logical,
            file=letter.file,
            offset=letter.offset,
            gtid=letter.gtid,
            execute_time=letter.execute_time,
            execute_position=str(letter.execute_position),
            topic=message.topic,
            partition=message.partition,
            key=None if key is None else key.decode("utf-8", "replace"),
            key_hidden=key_hidden and message.key is not None,
            value_bytes=letter.value_bytes,
            is_message=letter.is_message,
            written_ms=letter.written_ms,
            replayed_by=None if replay is None else replay.actor,
            replayed_ms=None if replay is None else replay.at_ms,
            record_offset=listed.record_offset,
            damaged=False,
            remedy="",
        )

    @classmethod
    def of_damaged(cls, found: DamagedDeadLetter) -> "DeadLetterView":
        """Return the entry of a list for records that cannot be read."""
        damage = found.damage
        return cls(
            **_NOTHING_KNOWN,
            id=found.id,
            code=damage.code,
            reason=damage.reason,
            record_offset=found.record_offset,
            damaged=True,
            remedy=damage.way_out,
        )


_NOTHING_KNOWN: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("real", "logical", "file", "gtid", "execute_position", "topic"), ""),
    **dict.fromkeys(("offset", "execute_time", "value_bytes", "written_ms"), 0),
    **dict.fromkeys(("key", "replayed_by", "replayed_ms"), None),
    "partition": -1,
    "key_hidden": False,
    "is_message": False,
}
"""The fields of a damaged dead letter that describe its message."""


class LaterChangesView(BaseModel):
    """The changes of a dead letter's key that are in its topic and newer than the dead letter."""

    count: int
    newest_ms: int | None = Field(
        description="When Kafka received the last of these changes; null: there is no such change."
    )
    is_whole: bool = Field(
        description="False: older records were removed, or there are too many to read in time, so "
        "there may be more."
    )
    sentence: str

    @classmethod
    def of(cls, found: LaterChanges, topic: str) -> "LaterChangesView":
        """Return the view of the newer changes in `topic`, with the sentence that the page
        shows.
        """
        return cls(
            count=found.count,
            newest_ms=found.newest_ms,
            is_whole=found.is_whole,
            sentence=found.sentence(topic),
        )


class OneLetterView(DeadLetterView):
    """One dead letter, with the current size limit of its topic, and the newer changes of its
    key.
    """

    message_bytes: int | None = Field(
        description="Largest size of its message in bytes; null: the row could not be encoded."
    )
    topic_limit_bytes: int | None = Field(
        description="Largest message that its topic accepts now, in bytes; null: no such topic."
    )
    fits_now: bool | None = Field(
        description="Whether the topic accepts the message now; null: without message or topic."
    )
    later: LaterChangesView | None = Field(
        description="The newer changes of its key; null: without message, key or partition."
    )

    @classmethod
    def now(
        cls,
        listed: ListedDeadLetter,
        limit_bytes: int | None,
        later: LaterChanges | None,
        *,
        key_hidden: bool,
    ) -> "OneLetterView":
        """Return the view of one dead letter.

        limit_bytes  current size limit of its topic in bytes; None: the topic does not exist
        later        newer changes of its key in the topic; None: they are unknown
        key_hidden   whether its key must not be shown
        """
        letter = listed.letter
        size = message_bytes(letter.message) if letter.is_message else None
        fits = None if size is None or limit_bytes is None else size <= limit_bytes
        return cls(
            **DeadLetterView.of(listed, key_hidden=key_hidden).model_dump(),
            message_bytes=size,
            topic_limit_bytes=limit_bytes,
            fits_now=fits,
            later=None if later is None else LaterChangesView.of(later, letter.message.topic),
        )


class LetterRowView(BaseModel):
    """One row of a dead letter, column by column."""

    row: int = Field(description="Number of the row in its message, from 0.")
    operation: str = Field(examples=["UPDATE"])
    key_hidden: bool = Field(description="A mask covers the key.")
    summary: str = Field(description="What changed, in some words.")
    columns: list[PeekedColumnView]

    @classmethod
    def of(cls, row: PeekedRow) -> "LetterRowView":
        """Return the row with the beginning of its values."""
        return cls(
            row=row.row,
            operation=row.operation,
            key_hidden=row.key_hidden,
            summary=change_summary(row),
            columns=[PeekedColumnView.of(each) for each in row.columns],
        )


class LetterRowsView(BaseModel):
    """The rows of a dead letter before and after the change, as a peek shows them."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "rows": [
                    {
                        "row": 0,
                        "operation": "UPDATE",
                        "key_hidden": False,
                        "summary": "state: open to paid",
                        "columns": [COLUMN_EXAMPLE],
                    }
                ],
                "count": 1,
                "note": "",
                "hides": False,
            }
        }
    )

    rows: list[LetterRowView]
    count: int = Field(description="Number of all rows of the message.")
    note: str = Field(description="Why no row is shown, or what the rows lack; may be empty.")
    hides: bool = Field(
        description="A mask or a rule hides columns of the value, or may hide them."
    )

    @classmethod
    def of(cls, found: LetterRows) -> "LetterRowsView":
        """Return the rows with the beginning of their values."""
        rows = [LetterRowView.of(each) for each in found.rows]
        return cls(rows=rows, count=found.count, note=found.note, hides=found.hides)


class ListedLetterView(DeadLetterView):
    """A dead letter in the list of all instances."""

    instance: str


class ReplayWish(BaseModel):
    """The order to send a dead letter's message; it contains the dead letter's id as a
    confirmation.
    """

    confirm: str = Field(description="The letter's id, repeated as a confirmation.")
    again: bool = Field(default=False, description="Send it although it was sent before.")
