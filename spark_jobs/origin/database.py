"""A source server over JDBC. It executes SQL in UTC, returns DataFrames, and raises the errors of
the jobs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from relay.model.source_rows.sessions import AND_SEE_ALL, AND_SORT_WHOLE_KEYS
from spark_jobs.config.copy import SourceServer
from spark_jobs.errors import (
    SourceDriverMissing,
    SourceRefused,
    SourceUnreachable,
    TableChanged,
    TableSwapped,
)
from spark_jobs.spark_util.error_translation import own_error

_FETCHED_ROWS: Final = "10000"
_SEES_ALL: Final = f"{AND_SEE_ALL}{AND_SORT_WHOLE_KEYS}"
_SESSION: Final = f"SET SESSION time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES'{_SEES_ALL}"
"""Without ALLOW_INVALID_DATES MySQL refuses to compare with 2024-02-31, which keys may have."""
_DRIVER: Final = "org.mariadb.jdbc.Driver"
_DRIVER_MISSING: Final = f"ClassNotFoundException: {_DRIVER}"
_REFUSED: Final = re.compile(
    r"\(conn=\d+\)[^\n]*(Access denied|command denied)[^\n]*|Access denied[^\n]*"
)
_CHANGED: Final = re.compile(r"(Unknown column|Table .* doesn't exist)[^\n]*")
_SWAPPED: Final = re.compile(r"Subquery returns more than 1 row")
"""The server's message about the condition of `spark_jobs.first_copy.alterations.unswapped`."""
_UNREACHABLE: Final = re.compile(
    r"(Socket fail to connect|Could not connect|unexpected end of stream|Socket error|Connection "
    r"reset|Read timed out|Connection timed out)"
    r"[^\n]*"
)


class SourceDatabase:
    """One source server.

    Every query has a separate session: nothing is locked, and no transaction stays open between two
    queries. `only_primary_keys`: messages of a table without a PRIMARY KEY have no key (the canal
    style).
    """

    def __init__(
        self, spark: SparkSession, settings: SourceServer, *, only_primary_keys: bool = False
    ) -> None:
        self.settings = settings
        self.only_primary_keys = only_primary_keys
        self._reader = spark.read.format("jdbc").options(**_options(settings))

    def query(self, sql: str) -> DataFrame:
        """Return the rows of a query as a DataFrame, which reads them when it is evaluated.

        Texts are returned as text, numbers as the driver returns them.
        """
        return self._reader.option("query", sql).load()

    def rows(self, sql: str) -> Sequence[Row]:
        """Execute a query now, and return its rows. Raises SourceUnreachable, SourceRefused or
        TableChanged.
        """
        with source_borders(self.settings):
            return self.query(sql).collect()


@contextmanager
def source_borders(*servers: SourceServer) -> Iterator[None]:
    """Context manager: convert errors that Spark and the driver raise about a source to the jobs'
    own errors.

    Other errors are not changed. `servers` are named in the reasons.
    """
    place = ", ".join(f"{each.host}:{each.port}" for each in servers)
    try:
        yield
    except (PySparkException, Py4JError) as exc:
        said = str(exc)
        if own_error(said) is not None:
            raise  # an executor has named it already, and it may be about the copies
        if _DRIVER_MISSING in said:
            raise SourceDriverMissing("Spark does not have MariaDB Connector/J.") from exc
        if found := _REFUSED.search(said):
            raise SourceRefused(
                f"A source ({place}) refuses the user: {found[0].rstrip('.')}."
            ) from exc
        if found := _CHANGED.search(said):
            raise TableChanged(
                f"A source ({place}) reports an error: {found[0].rstrip('.')}."
            ) from exc
        if _SWAPPED.search(said):
            raise TableSwapped(
                f"A source ({place}) had another table under the name of a copied one: a RENAME "
                "swapped them while the rows were read."
            ) from exc
        if found := _UNREACHABLE.search(said):
            raise SourceUnreachable(
                f"A source ({place}) does not answer: {found[0].rstrip('.')}."
            ) from exc
        raise


def _options(settings: SourceServer) -> Mapping[str, str]:
    """Return the options.

    Spark quotes names in MySQL's way only if the address begins with jdbc:mysql.
    """
    driver = {
        "permitMysqlScheme": "true",
        "tinyInt1isBit": "false",
        **_timeouts(settings),
        **_tls(settings),
        **settings.driver,
    }
    parameters = "&".join(f"{name}={quote(value, safe='/:,.')}" for name, value in driver.items())
    return {
        "url": f"jdbc:mysql://{settings.host}:{settings.port}/?{parameters}",
        "driver": _DRIVER,
        "user": settings.user,
        "password": settings.password.get_secret_value(),
        "fetchsize": _FETCHED_ROWS,
        "sessionInitStatement": _SESSION,
    }


def _timeouts(settings: SourceServer) -> Mapping[str, str]:
    """Return the longest silence of a server, as options of the driver.

    The system's keepalive probes detect an unreachable host earlier.
    """
    return {
        "connectTimeout": str(int(settings.connect_timeout_seconds * 1000)),
        "socketTimeout": str(int(settings.read_timeout_seconds * 1000)),
        "tcpKeepAlive": "true",
        "tcpKeepIdle": "30",
        "tcpKeepInterval": "10",
        "tcpKeepCount": "3",
    }


def _tls(settings: SourceServer) -> Mapping[str, str]:
    if settings.tls_ca is None:
        return {"allowPublicKeyRetrieval": "true"}  # how MySQL takes a password without TLS
    return {"sslMode": "verify-full", "serverSslCert": str(settings.tls_ca)}
