"""Message headers: the order key and the tags; with `headers = "full"` also the origin of the
change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from relay.envelope import ColumnRename, Header, order_text, orders_text, renamed_text
from relay.model.message import Headers
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableId


@dataclass(frozen=True, slots=True)
class Origin:
    """The fields that `headers = "full"` adds to the order key and the tags.

    instance     name of the instance, or `instance/source` for a source of a group
    real         real table, None for a statement that names none
    server_id    server whose binlog has the change
    position     binlog coordinates of the change
    mapping_set  number of the mapping set
    failed       whether the statement ended with an error on the source
    renamed      columns that an ALTER TABLE renames, possibly none; None for other changes, and if
                 the statement's text does not show the columns
    """

    instance: str
    real: TableId | None
    server_id: int
    position: BinlogPosition
    gtid: str
    mapping_set: int
    failed: bool = False
    renamed: tuple[ColumnRename, ...] | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """The source transaction of a row.

    id      the transaction's id, as in its BEGIN and END messages
    before  execute position before its first change
    origin  the fields of the full headers; None with the default headers
    """

    id: str
    before: int
    origin: Origin | None = None


def tag_headers(tags: Sequence[str]) -> Headers:
    """Return one `tag` header for each tag. Callers cache the result for each table and set of
    tags.
    """
    return tuple((Header.TAG.value, tag.encode()) for tag in tags)


def message_headers(
    order: OrderPair, tags: Headers, origin: Origin | Membership | None = None
) -> Headers:
    """Return a message's headers. Without an origin: only the order header and the tags."""
    own = (
        Header.ORDER.value,
        order_text(order.execute_time, order.execute_position).encode("ascii"),
    )
    return (own, *headers_behind_order(tags, origin))


def headers_behind_order(tags: Headers, origin: Origin | Membership | None) -> Headers:
    """Return the headers after the order header. They are the same for all messages of an event
    with these tags.
    """
    if origin is None:
        return tags
    if isinstance(origin, Origin):
        return (*tags, *_origin_headers(origin))
    return (*headers_behind_order(tags, origin.origin), *_membership_headers(origin))


def packed_headers(
    orders: Sequence[OrderPair], tags: Headers, origin: Origin | Membership | None = None
) -> Headers:
    """Return the headers of a message with several rows.

    `orders` are the order keys of the rows, in rising order.
    """
    order, *others = message_headers(orders[0], tags, origin)
    if len(orders) == 1:
        return (order, *others)
    offsets = orders_text([each.execute_position for each in orders]).encode("ascii")
    return (order, (Header.ORDERS.value, offsets), *others)


def _membership_headers(membership: Membership) -> Headers:
    return (
        (Header.TRANSACTION.value, membership.id.encode()),
        (Header.TRANSACTION_BEFORE.value, b"%019d" % membership.before),
    )


def _origin_headers(origin: Origin) -> Headers:
    real = () if origin.real is None else ((Header.REAL.value, str(origin.real).encode()),)
    failed = ((Header.FAILED.value, b"1"),) if origin.failed else ()
    renamed = (
        ()
        if origin.renamed is None
        else ((Header.RENAMED.value, renamed_text(origin.renamed).encode("ascii")),)
    )
    return (
        (Header.INSTANCE.value, origin.instance.encode()),
        *real,
        (Header.SOURCE.value, f"{origin.server_id}:{origin.position}".encode()),
        (Header.GTID.value, origin.gtid.encode()),
        (Header.MAPPING.value, b"%d" % origin.mapping_set),
        *failed,
        *renamed,
    )
