"""Translates errors of the server and of PyMySQL into errors of the relay. No other module of the
package uses the numbers and texts of these errors.
"""

import ssl
import struct
from typing import Final

import pymysql

from relay.errors import (
    BinlogPurged,
    CorruptEvent,
    RelayError,
    ServerIdContested,
    SourceLoginRefused,
    SourceLostTransactions,
    SourceNotPermitted,
    SourceSettingsRefused,
    SourceUnreachable,
)
from relay.source.protocol.tls_errors import refused_certificate, tls_failure

# Access denied in its many forms: user, password, host, plug-in, expiry, lock.
_LOGIN_REFUSED: Final = frozenset(
    {1045, 1130, 1251, 1524, 1698, 1820, 1862, 2059, 3118, 3955, 4151}
)
# 1401 is what MySQL says to XA RECOVER without XA_RECOVER_ADMIN.
_NOT_PERMITTED: Final = frozenset({1044, 1142, 1143, 1227, 1370, 1401})
_BINLOG_READ_FAILED: Final = 1236
# MariaDB's own numbers for a GTID position that its binlog does not hold.
_ERROR: Final = 0xFF
_ERROR_HEAD_BYTES: Final = 3
_GTID_NOT_FOUND: Final = frozenset({1944, 1945, 1955})
_FILE_NOT_FOUND: Final = (
    29  # what MariaDB says of a binlog file that stands in its list and not on its disk
)
_BINLOG_OFF: Final = 1381
_SAME_SERVER_ID: Final = 4052  # MariaDB has a number of its own for it

_NO_TLS: Final = (
    "Give the source a certificate (ssl_cert, ssl_key), or set tls = 'disabled' in a network that "
    "you trust."
)
_TLS_DEMANDED: Final = (
    "Set tls = 'required', or tls_ca to the authority that signed the source's certificate."
)
# 2026 is the driver's own number: TLS was required of a server that offers none. The others come
# from servers that accept TLS only.
_TLS_REMEDIES: Final = {2026: _NO_TLS, 3159: _TLS_DEMANDED, 4145: _TLS_DEMANDED}
_PACKET_REMEDY: Final = (
    "Raise max_allowed_packet on the source above the size of its largest binlog event."
)

# Parts of the sentences that come with error 1236, lower case; source/replica and master/slave are
# one word each here.
_SENTENCES: Final[tuple[tuple[str, type[RelayError]], ...]] = (
    ("same server_uuid/server_id", ServerIdContested),
    ("could not find first log file name", BinlogPurged),
    ("could not open log file", BinlogPurged),
    ("could not find next log", BinlogPurged),
    ("purged", BinlogPurged),
    ("impossible position", SourceLostTransactions),
    ("position > file size", SourceLostTransactions),
    ("has more gtids than", SourceLostTransactions),
    ("not in the master's binlog", SourceLostTransactions),
    ("is missing the gtid", SourceLostTransactions),
    ("max_allowed_packet", SourceSettingsRefused),
    ("server_id was not set", SourceSettingsRefused),
    ("server id was not set", SourceSettingsRefused),
    ("binary log is not open", SourceSettingsRefused),
    ("gtid_mode", SourceSettingsRefused),
)


def translated(exc: Exception, doing: str, *, tls_legacy: bool = False) -> RelayError:
    """Return the relay's error for an error of PyMySQL or the socket.

    `doing` is the attempted action, as the start of a sentence. `tls_legacy`: the setting of that
    name is on.
    """
    original = getattr(exc, "original_exception", None) or refused_certificate(exc)
    if isinstance(original, ssl.SSLError):
        return tls_failure(original, doing, legacy=tls_legacy)
    code = (
        exc.args[0]
        if isinstance(exc, pymysql.MySQLError) and exc.args and isinstance(exc.args[0], int)
        else 0
    )
    text = str(exc.args[-1]) if exc.args else str(exc)
    return from_number(code, text, doing)


def from_number(code: int, text: str, doing: str) -> RelayError:
    """Return the relay's error for an error number and text of the server. `doing` is the attempted
    action.
    """
    text = text.rstrip(". ")
    reason = f"{doing}: {text} (error {code})." if code else f"{doing}: {text}."
    if code in _TLS_REMEDIES:
        return SourceLoginRefused(reason, remedy=_TLS_REMEDIES[code])
    if code in _LOGIN_REFUSED:
        return SourceLoginRefused(reason)
    if code in _NOT_PERMITTED:
        return SourceNotPermitted(reason)
    if code == _SAME_SERVER_ID:
        return ServerIdContested(reason)
    if code == _FILE_NOT_FOUND:
        return BinlogPurged(reason)
    if code == _BINLOG_OFF:
        return SourceSettingsRefused(reason)
    if code == _BINLOG_READ_FAILED or code in _GTID_NOT_FOUND:
        return _binlog_read_failed(code, text, reason)
    return SourceUnreachable(reason)


def from_packet(payload: memoryview, doing: str) -> RelayError:
    """Return the relay's error for an ERR packet, or for the EOF packet that ends a dump.

    An ERR packet is 0xFF, the number, optionally '#' and a state, and the text. `doing` is the
    attempted action.
    """
    if not len(payload) or payload[0] != _ERROR:
        return SourceUnreachable(
            f"{doing}: the source ended the stream; it is shutting down or an operator ended its "
            f"thread."
        )
    if len(payload) < _ERROR_HEAD_BYTES:
        return SourceUnreachable(f"{doing}: the source's answer is cut short.")
    (code,) = struct.unpack_from("<H", payload, 1)
    text = bytes(payload[3:])
    if text[:1] == b"#":
        text = text[6:]
    return from_number(code, text.decode("utf-8", "replace"), doing)


def _binlog_read_failed(code: int, text: str, reason: str) -> RelayError:
    lowered = text.lower()
    for sentence, leaf in _SENTENCES:
        if sentence in lowered:
            return (
                leaf(reason, remedy=_PACKET_REMEDY)
                if sentence == "max_allowed_packet"
                else leaf(reason)
            )
    if code in _GTID_NOT_FOUND:
        return SourceLostTransactions(reason)
    return CorruptEvent(reason)
