"""Runs lookups by SQL on the source's server, over a separate read-only connection."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import DictCursor

from relay.errors import LookupUnreachable
from relay.lookups.answers import KeptAnswers
from relay.settings import LookupSettings, SourceSettings
from relay.tls import login

PlainAnswer: TypeAlias = "Mapping[str, int | float | Decimal | str | bytes | None] | None"

# Dates and times stay the text that the server prints, as in rows.
_AS_TEXT: Final = frozenset(
    {FIELD_TYPE.DATE, FIELD_TYPE.TIME, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP}
)


class SourceLookups:
    """The lookups of one run of an instance, by name; used by one thread, which also closes it.

    `before_asking` is called before each query. It waits until SELECTs on the server show the
    transaction to which the row of the transform belongs.
    """

    def __init__(self, lookups: Iterable[LookupSettings], source: SourceSettings) -> None:
        self._source = source
        self._connection: pymysql.Connection[DictCursor] | None = None
        self.before_asking: Callable[[], None] = lambda: None
        self.by_name = {each.name: self._lookup(each) for each in lookups}

    def close(self) -> None:
        """Close the connection. The next query opens a new one."""
        if self._connection is not None:
            with suppress(pymysql.err.MySQLError, OSError):
                self._connection.close()
            self._connection = None

    def _lookup(self, settings: LookupSettings) -> Callable[..., PlainAnswer]:
        def ask(arguments: tuple[Any, ...]) -> PlainAnswer:
            return self._ask(settings, arguments)

        kept = KeptAnswers(ask, settings.cache_seconds, settings.cache_rows, monotonic)
        return lambda *arguments: kept.answer(arguments)

    def _ask(self, settings: LookupSettings, arguments: tuple[Any, ...]) -> PlainAnswer:
        self.before_asking()
        try:
            try:
                return self._first_row(settings.query, arguments)
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError):
                self.close()  # the server may have closed it: try once over a new connection
                return self._first_row(settings.query, arguments)
        except (pymysql.err.MySQLError, OSError) as exc:
            self.close()
            where = f"{self._source.host}:{self._source.port}"
            raise LookupUnreachable(
                f"{where} does not answer the lookup {settings.name}: {exc}."
            ) from exc

    def _first_row(self, query: str, arguments: tuple[Any, ...]) -> PlainAnswer:
        if self._connection is None:
            self._connection = self._connect()
        with self._connection.cursor() as cursor:
            cursor.execute(query, arguments)
            row = cursor.fetchone()
        return None if row is None else MappingProxyType(row)

    def _connect(self) -> "pymysql.Connection[DictCursor]":
        source = self._source
        return pymysql.connect(
            **login(source),
            init_command="SET SESSION TRANSACTION READ ONLY",
            conv={kind: convert for kind, convert in conversions.items() if kind not in _AS_TEXT},
            cursorclass=DictCursor,
            connect_timeout=source.connect_timeout_seconds,
            read_timeout=source.read_timeout_seconds,
            write_timeout=source.read_timeout_seconds,
        )
