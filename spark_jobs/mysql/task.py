"""The work of one Spark task: writes its part of a table's changes, or reads a part of a table.

It runs on executors.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Any, Final, TypeAlias

from spark_jobs.config.mysql import MirrorSettings
from spark_jobs.errors import MirrorRefused
from spark_jobs.mysql.server import NullRefused, Server
from spark_jobs.mysql.statements import orders_of, select_piece, upsert

Values: TypeAlias = tuple[Any, ...]
Piece: TypeAlias = tuple[bytes, bytes | None]
_KEY: Final = 0
_ORDER: Final = 1
_BYTES_PER_STATEMENT: Final = 1 << 20  # far below the default packet limit of servers


def write_rows(
    settings: MirrorSettings, place: str, columns: Sequence[str], rows: Iterable[Values]
) -> Iterator[int]:
    """Write rows of one table, and yield for each statement the number of rows that it has written.

    place    the quoted name of the table
    columns  names of the columns
    rows     for each row the guards without the hash, then the columns
    """
    waiting: list[Values] = []
    size = 0
    with Server(settings) as server:
        for row in rows:
            waiting.append((sha256(row[_KEY].encode()).digest(), *row))
            size += sum(
                len(value) if isinstance(value, str | bytes | bytearray) else 8 for value in row
            )
            if len(waiting) >= settings.rows_per_statement or size >= _BYTES_PER_STATEMENT:
                yield _write(server, place, columns, waiting)
                waiting, size = [], 0
        if waiting:
            yield _write(server, place, columns, waiting)


def read_piece(
    settings: MirrorSettings, place: str, columns: Sequence[str], piece: Piece
) -> Iterator[Values]:
    """Yield the rows of the table `place` whose key hashes are in the range `piece`.

    Each row has the values of the guards (`GUARD_TYPES`) without the key hash, then of `columns`.
    """
    _, behind = piece
    with Server(settings) as server:
        yield from server.stream(
            select_piece(place, columns, last=behind is None),
            [each for each in piece if each is not None],
        )


def _write(server: Server, place: str, columns: Sequence[str], rows: list[Values]) -> int:
    """Write the rows.

    Rows older than the table's are skipped first, which saves work and counts the winners: the
    statement has the guard.
    """
    hashes = [row[0] for row in rows]
    there: dict[bytes, str] = dict(server.run(orders_of(place, len(hashes)), hashes))
    # All writers take their locks in one order, so that they wait for each other instead of
    # blocking each other.
    winners = sorted(
        (row for row in rows if row[1 + _ORDER] >= there.get(row[0], "")), key=itemgetter(0)
    )
    if winners:
        _upsert(server, place, columns, winners)
    return len(winners)


def _upsert(server: Server, place: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
    try:
        server.run(upsert(place, columns, len(rows)), [value for row in rows for value in row])
    except NullRefused as exc:
        raise MirrorRefused(
            f"{place} has a UNIQUE index besides its primary key, in which rows of two keys "
            "conflict. Replace it with a non-unique index."
        ) from exc
