"""Bodies of answers with the rows of messages, for a reader of a table."""

from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from api.services.peek import AskedPeek
from api.services.peek.change_summary import change_summary
from relay.envelope import order_text
from relay.operations import PeekedColumn, PeekedRow, PeekTable

_CHARACTERS = 1000
"""Of one value; a stream is for looking, not for copying."""


Operation: TypeAlias = Literal["", "INSERT", "UPDATE", "DELETE"]


class PeekWish(BaseModel):
    """Selects the messages of a stream. The key is in the body, because logs record URLs."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"table": "shop.orders", "key": "90217744", "from": "1h"}},
    )

    table: str = Field(max_length=300, description="Logical table.")
    op: Operation = Field("", description="One operation; empty: all.")
    key: str = Field(
        "", max_length=300, description="Text that the key contains. Needs the right `values`."
    )
    start: str = Field(
        "now",
        alias="from",
        max_length=40,
        description="`now`, `last` (the newest 50 first), a span (`15m`), or a time and zone.",
    )
    after: str = Field(
        "", max_length=8000, description="Continue here: the id of an event `count`."
    )

    def asked(self) -> AskedPeek:
        """Return the parameters for the service that reads the messages."""
        return AskedPeek(self.table, self.op, self.key, self.start)


class PeekTableView(BaseModel):
    """A logical table whose messages can be read."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"name": "shop.orders", "topics": ["shop"]}}
    )

    name: str = Field(description="Logical name, database.table.")
    topics: list[str] = Field(description="Its topics; each has all its messages.")

    @classmethod
    def of(cls, table: PeekTable) -> "PeekTableView":
        """Return the view of a table."""
        return cls(name=str(table.name), topics=list(table.topics))


COLUMN_EXAMPLE: Final[JsonDict] = {
    "name": "state",
    "type": "varchar(10)",
    "key": False,
    "before": "open",
    "after": "paid",
    "changed": True,
    "hidden": False,
    "cut": False,
}
"""A PeekedColumnView in examples of answers."""


class PeekedColumnView(BaseModel):
    """One column before and after the change."""

    name: str
    type: str = Field(description="The source's type; may be empty.", examples=["bigint unsigned"])
    key: bool = Field(description="Part of the key.")
    before: str | None
    after: str | None
    changed: bool
    hidden: bool = Field(
        description="The values must not be seen: a mask covers them, or a right is missing."
    )
    cut: bool = Field(description="A value is longer than the 1,000 characters shown.")

    @classmethod
    def of(cls, column: PeekedColumn) -> "PeekedColumnView":
        """Return the view of a column; long values are cut."""
        return cls(
            name=column.name,
            type=column.type,
            key=column.is_key,
            before=_cut(column.before),
            after=_cut(column.after),
            changed=column.changed,
            hidden=column.hidden,
            cut=any(len(each or "") > _CHARACTERS for each in (column.before, column.after)),
        )


class PeekedRowView(BaseModel):
    """One row of a message. It is the JSON in `data` of the server-sent event `row`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "place": "17:88120344:0",
                "topic": "shop",
                "published_ms": 1795427528204,
                "operation": "UPDATE",
                "key": "90217744",
                "key_hidden": False,
                "summary": "state: open to paid",
                "columns": [COLUMN_EXAMPLE],
                "order": "1795427528131.0013511071186682017",
                "order_parts": "epoch 3, file 1042, offset 771204133",
                "tags": ["orders", "paid"],
                "headers": {},
                "claim": "",
            }
        }
    )

    place: str = Field(description="Partition, offset, and the row's number in its message.")
    topic: str
    published_ms: int
    operation: str
    key: str = Field(description="The key's values; empty without a key, or where it is hidden.")
    key_hidden: bool
    summary: str = Field(description="What changed, in some words.")
    columns: list[PeekedColumnView]
    order: str = Field(description="Order key; empty where the message has none.")
    order_parts: str
    tags: list[str]
    headers: dict[str, str] = Field(description="real, source, gtid, instance, if they are sent.")
    claim: str = Field(description="Where the value is, if the message does not hold it.")

    @classmethod
    def of(cls, row: PeekedRow) -> "PeekedRowView":
        """Return the view of a row; long values are cut."""
        order = row.order
        return cls(
            place=f"{row.partition}:{row.offset}:{row.row}",
            topic=row.topic,
            published_ms=row.at_ms,
            operation=row.operation,
            key=row.key_text,
            key_hidden=row.key_hidden,
            summary=change_summary(row),
            columns=[PeekedColumnView.of(each) for each in row.columns],
            order="" if order is None else order_text(order.execute_time, order.execute_position),
            order_parts=row.order_parts,
            tags=list(row.tags),
            headers=dict(row.headers),
            claim=row.claim,
        )


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_CHARACTERS]
