"""Parses QUERY events: the text of a statement, its default database, and its effect on the open
transaction.
"""

import re
import struct
import zlib
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from relay.charsets.collations import charset_of_collation
from relay.model.change import Statement
from relay.model.event_types import LARGEST_EVENT_BYTES, Body
from relay.model.positions.position import BinlogPosition
from relay.model.sql_mode import NO_MODE, SqlMode

_HEAD: Final = struct.Struct("<IIBHH")
_SQL_MODE_VARIABLE: Final = 1
_SQL_MODE: Final = struct.Struct("<Q")
_CHARSET_VARIABLE: Final = 4
_CHARSETS: Final = struct.Struct(
    "<HHH"
)  # collation numbers: the client's, the connection's, the server's
# Lengths of the status variables that both servers write before the character set (mysql-server:
# Query_event).
_FIXED_VARIABLES: Final = {0: 4, _SQL_MODE_VARIABLE: _SQL_MODE.size, 3: 4}
_CATALOG: Final = 6

# Python's codecs for the client character sets that are not UTF-8, by collation number; everything
# else is read as UTF-8.
_CODECS: Final = {
    **dict.fromkeys((1, 84), "big5hkscs"),
    **dict.fromkeys((2, 9, 21, 27, 77), "latin2"),
    **dict.fromkeys((5, 8, 15, 31, 47, 48, 49, 94), "cp1252"),
    **dict.fromkeys((7, 74), "koi8_r"),
    **dict.fromkeys((12, 91), "euc_jp"),
    **dict.fromkeys((13, 88), "shift_jis"),
    **dict.fromkeys((19, 85), "euc_kr"),
    **dict.fromkeys((22, 75), "koi8_u"),
    **dict.fromkeys((24, 86), "gb2312"),
    **dict.fromkeys((25, 70), "iso8859_7"),
    **dict.fromkeys((26, 34, 44, 66, 99), "cp1250"),
    **dict.fromkeys((28, 87), "gbk"),
    **dict.fromkeys((14, 23, 50, 51, 52), "cp1251"),
    **dict.fromkeys((30, 78), "iso8859_9"),
    **dict.fromkeys((95, 96), "cp932"),
    **dict.fromkeys((97, 98), "euc_jp"),
    **dict.fromkeys((248, 249, 250), "gb18030"),
}  # fmt: skip

_BEGIN: Final = b"BEGIN"
# Servers write the names themselves: in backticks, with ANSI_QUOTES in double quotes, and without
# sql_quote_show_create bare. MySQL manual: Schema Object Names.
_IDENTIFIER: Final = (
    rb'(?:`(?P<ticked>(?:[^`]|``)+)`|"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[\w$\x80-\xff]+))\s*;?\s*'
)
_SAVEPOINT: Final = re.compile(rb"\s*SAVEPOINT\s+" + _IDENTIFIER, re.IGNORECASE)
_ROLLBACK_TO: Final = re.compile(
    rb"\s*ROLLBACK\s+(?:WORK\s+)?TO\s+(?:SAVEPOINT\s+)?" + _IDENTIFIER, re.IGNORECASE
)
_RELEASE: Final = re.compile(rb"\s*RELEASE\s+SAVEPOINT\s+" + _IDENTIFIER, re.IGNORECASE)
_ABOUT_SAVEPOINTS: Final = re.compile(rb"(?i)\s*(?:SAVEPOINT|ROLLBACK|RELEASE)\b")
_ATOMIC_CREATE: Final = re.compile(
    rb"(?is)\s*CREATE\s+TABLE\b.*?(?P<suffix>\s+START\s+TRANSACTION\s*)\Z"
)
_PLAIN_WORDS: Final = re.compile(rb"(?i)\s*(BEGIN|COMMIT|ROLLBACK)\s*(?:/\*.*\*/\s*)?\Z")


class Meaning(Enum):
    """The effect of a logged statement on its transaction.

    UNREADABLE: the statement sets, releases or rolls back to a savepoint, whose name cannot be
    read.
    """

    BEGIN = auto()
    COMMIT = auto()
    ROLLBACK = auto()
    SAVEPOINT = auto()
    ROLLBACK_TO = auto()
    RELEASE = auto()
    UNREADABLE = auto()
    XA = auto()
    ATOMIC_CREATE = auto()
    STATEMENT = auto()


_WORDS: Final = {b"BEGIN": Meaning.BEGIN, b"COMMIT": Meaning.COMMIT, b"ROLLBACK": Meaning.ROLLBACK}
_NAMED: Final = (
    (_SAVEPOINT, Meaning.SAVEPOINT),
    (_ROLLBACK_TO, Meaning.ROLLBACK_TO),
    (_RELEASE, Meaning.RELEASE),
)
_SAVEPOINT_HEADS: Final = frozenset({b"SAVEPOI", b"ROLLBAC", b"RELEASE"})


@dataclass(frozen=True, slots=True)
class QueryEvent:
    """A logged statement, with the session variables on which the meaning of its text depends.

    meaning         its effect on the transaction
    sql             the text as bytes; `text()` decodes it
    database        the session's default database
    codec           the Python codec of the text
    name            the name of the savepoint, with ASCII letters in lower case (see `may_be_equal`)
    sql_mode        the session's sql_mode, as far as it changes how the text is parsed
    failed          whether the event has an error number
    server_charset  the session's character_set_server, "" if the event lacks it
    """

    meaning: Meaning
    sql: bytes
    database: str
    codec: str
    name: str = ""
    sql_mode: SqlMode = NO_MODE
    failed: bool = False
    server_charset: str = ""

    def statement(self, time_s: int, position: BinlogPosition) -> Statement:
        """Return the statement as an item. `time_s` is Unix time, and `position` where the event
        begins.
        """
        return Statement(
            self.text(),
            self.database,
            time_s,
            position,
            self.sql_mode,
            self.failed,
            self.server_charset,
        )

    def text(self) -> str:
        """Return the text in Unicode. Bytes that are invalid in the session's character set become
        U+FFFD.
        """
        return self.sql.decode(self.codec, "replace")


def is_plain_begin(body: Body) -> bool:
    """Return whether the statement is only BEGIN, as servers write it before the rows of a
    transaction.
    """
    if body[-len(_BEGIN) :] != _BEGIN:
        return False
    _, _, database_length, _, status_length = _HEAD.unpack_from(body)
    head_bytes: int = _HEAD.size + status_length + database_length + 1
    return len(body) == head_bytes + len(_BEGIN)


def read_query(body: Body, *, compressed: bool) -> QueryEvent:
    """Return the content of a QUERY event. `compressed`: it is MariaDB's compressed form.

    Raises struct.error, IndexError or zlib.error if the event is cut short or damaged.
    """
    _, _, database_length, error, status_length = _HEAD.unpack_from(body)
    status_end = _HEAD.size + status_length
    database_end = status_end + database_length
    rest = body[database_end + 1 :]
    sql = decompressed(rest) if compressed else bytes(rest)
    meaning, name = _meaning(sql)
    if meaning is Meaning.ATOMIC_CREATE and (match := _ATOMIC_CREATE.match(sql)):
        sql = sql[: match.start("suffix")]
    database = bytes(body[status_end:database_end]).decode("utf-8", "replace")
    codec, sql_mode, server_charset = _session(body[_HEAD.size : status_end])
    return QueryEvent(meaning, sql, database, codec, name, sql_mode, bool(error), server_charset)


def decompressed(packed: Body) -> bytes:
    """Return the decompressed bytes of `packed`, the compressed part of a MariaDB event.

    Its form: one byte with the algorithm and the size of the length field, the length, zlib data.
    Memory grows with the bytes that zlib returns, not with the announced length. Raises zlib.error
    if the number of bytes differs from the announced length.
    """
    length_bytes = packed[0] & 0x07
    if packed[0] & 0x70:
        raise zlib.error("an unknown algorithm")
    size = int.from_bytes(packed[1 : 1 + length_bytes], "big")
    if size > LARGEST_EVENT_BYTES:
        raise zlib.error(f"{size} bytes are announced")
    stream = zlib.decompressobj()
    plain = stream.decompress(
        packed[1 + length_bytes :], size + 1
    )  # one more shows a stream that is too long; 0 would be no limit
    if len(plain) != size or not stream.eof:
        raise zlib.error(f"{len(plain)} bytes instead of {size}")
    return plain


def _meaning(sql: bytes) -> tuple[Meaning, str]:
    head = sql[:24].lstrip()[:9].upper()
    if head[:5] == b"BEGIN" or head[:6] == b"COMMIT" or head[:8] == b"ROLLBACK":
        if match := _PLAIN_WORDS.match(sql):
            return _WORDS[match[1].upper()], ""
        if head[:8] != b"ROLLBACK":
            return Meaning.STATEMENT, ""
    if head[:3] in (b"XA ", b"XA\t", b"XA\n"):
        return Meaning.XA, ""
    if head[:7] in _SAVEPOINT_HEADS and _ABOUT_SAVEPOINTS.match(sql):
        return _savepoint(sql)
    if (
        head[:6] == b"CREATE"
        and sql.rstrip()[-11:].upper() == b"TRANSACTION"
        and _ATOMIC_CREATE.match(sql)
    ):
        return Meaning.ATOMIC_CREATE, ""
    return Meaning.STATEMENT, ""


def _savepoint(sql: bytes) -> tuple[Meaning, str]:
    for pattern, meaning in _NAMED:
        if match := pattern.fullmatch(sql):
            try:
                return meaning, _name(match).lower().decode("utf-8")
            except UnicodeDecodeError:
                break
    return Meaning.UNREADABLE, ""


def _name(match: re.Match[bytes]) -> bytes:
    if (ticked := match["ticked"]) is not None:
        return ticked.replace(b"``", b"`")
    if (quoted := match["quoted"]) is not None:
        return quoted.replace(b'""', b'"')
    return match["plain"]


def _session(status: Body) -> tuple[str, SqlMode, str]:
    """Read codec, sql_mode and character_set_server of the session from the status variables.

    Their order is fixed, and these three come early.
    """
    at, sql_mode = 0, NO_MODE
    while at < len(status):
        code = status[at]
        at += 1
        if code == _CHARSET_VARIABLE:
            client, _, server = _CHARSETS.unpack_from(status, at)
            return _CODECS.get(client, "utf-8"), sql_mode, charset_of_collation(server) or ""
        if code == _SQL_MODE_VARIABLE:
            sql_mode = SqlMode.of_bits(*_SQL_MODE.unpack_from(status, at))
        if code == _CATALOG:
            at += 1 + status[at]
        elif code in _FIXED_VARIABLES:
            at += _FIXED_VARIABLES[code]
        else:
            break
    return "utf-8", sql_mode, ""
