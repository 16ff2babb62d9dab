"""Reads the events and statements of XA transactions, as MySQL and MariaDB log them.

Servers log the rows at PREPARE, as a complete event group with a GTID of its own. COMMIT or
ROLLBACK follows later in another group (MySQL: XA_PREPARE_LOG_EVENT and QUERY; MariaDB:
XA_PREPARE_LOG_EVENT, flags of GTID_EVENT, and QUERY).
"""

import re
import struct
from typing import Final

from relay.model.change import XaAction
from relay.model.event_types import Body

_PREPARE: Final = struct.Struct("<BIII")
_NAMED: Final = re.compile(
    r"\s*XA\s+(?P<verb>\w+)\s+X'(?P<gtrid>[0-9A-F]*)'\s*,\s*X'(?P<bqual>[0-9A-F]*)'\s*,\s*(?P<format>\d+)\s*",
    re.IGNORECASE,
)
_ACTIONS: Final = {
    "START": XaAction.BEGIN,
    "BEGIN": XaAction.BEGIN,
    "COMMIT": XaAction.COMMIT,
    "ROLLBACK": XaAction.ROLLBACK,
}


def prepared(body: Body) -> tuple[XaAction, str]:
    """Return (action, name) of an XA_PREPARE event; the action is PREPARE, or COMMIT_AT_ONCE for
    XA COMMIT ... ONE PHASE.

    Raises ValueError or struct.error if the event is cut short.
    """
    one_phase, format_id, gtrid_bytes, bqual_bytes = _PREPARE.unpack_from(body)
    name = bytes(body[_PREPARE.size : _PREPARE.size + gtrid_bytes + bqual_bytes])
    if len(name) != gtrid_bytes + bqual_bytes:
        raise ValueError("the name of an XA transaction is cut short")
    return XaAction.COMMIT_AT_ONCE if one_phase else XaAction.PREPARE, xid(
        name[:gtrid_bytes], name[gtrid_bytes:], format_id
    )


def xid(gtrid: bytes, bqual: bytes, format_id: int) -> str:
    """Return the name of an XA transaction in the form that statements have, such as `X'31',X'',1`.
    `gtrid`, `bqual` and `format_id` are the parts of its xid.
    """
    return f"X'{gtrid.hex()}',X'{bqual.hex()}',{format_id}"


def statement(sql: str) -> tuple[XaAction | None, str]:
    """Return (action, name) of a logged XA statement such as `XA COMMIT X'31',X'',1`.

    The action is None for XA END, which changes nothing. Raises ValueError for texts that name no
    XA transaction.
    """
    found = _NAMED.match(sql)
    if found is None:
        raise ValueError(f"{sql!r} does not name an XA transaction")
    name = f"X'{found['gtrid'].lower()}',X'{found['bqual'].lower()}',{int(found['format'])}"
    return _ACTIONS.get(found["verb"].upper()), name
