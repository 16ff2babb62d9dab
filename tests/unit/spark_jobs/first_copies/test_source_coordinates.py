"""Where a source says that it is: its GTIDs count where every transaction has one."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from pyspark.sql import Row

from spark_jobs.errors import JobError, SourceRefused, TableChanged
from spark_jobs.kafka.catching_up import await_shown
from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin import SourceCoordinates, SourceDatabase, coordinates_now, shows

LOG = [Row(file="binlog.000002", offset=157)]
AT_LOG = SourceCoordinates(False, "", "binlog.000002", 157)


class Server:
    """Answers like MySQL; `log` is what it says of its binlog."""

    def __init__(self, gtids: str, mode: str, log: Sequence[Row] | JobError) -> None:
        self._gtids, self._mode, self._log = gtids, mode, log

    subsets = lacking_looks = 0

    def rows(self, sql: str) -> Sequence[Row]:
        if "log_status" in sql:
            if isinstance(self._log, JobError):
                raise self._log
            return self._log
        if "GTID_SUBSET" in sql:
            self.subsets += 1
            return [Row(covered=int(self.subsets > self.lacking_looks))]
        own: Mapping[str, Any] = {
            "@@version": Row(version="8.4.0"),
            "gtid_executed": Row(place=self._gtids, mode=self._mode),
        }
        return [next(row for part, row in own.items() if part in sql)]


@pytest.mark.parametrize(
    ("server", "place"),
    [
        (Server("uuid:1-5,\nother:1", "ON", LOG), SourceCoordinates(False, "uuid:1-5,other:1")),
        (Server("", "ON", LOG), AT_LOG),
        (Server("uuid:1-5", "OFF_PERMISSIVE", LOG), AT_LOG),
        (Server("uuid:1-5", "OFF", LOG), AT_LOG),
        (Server("", "OFF", SourceRefused("BACKUP_ADMIN")), None),
        (
            Server("", "OFF", TableChanged("Table 'performance_schema.log_status' doesn't exist")),
            None,
        ),
    ],
    ids=["all have GTIDs", "none yet", "some have", "formerly", "not permitted", "MySQL 5"],
)
def test_the_place_of_a_mysql_server(server: Server, place: SourceCoordinates | None) -> None:
    assert coordinates_now(cast("SourceDatabase", server)) == place


def test_what_is_published_is_shown_once_gtid_executed_has_it() -> None:
    server = Server("uuid:1-5", "ON", LOG)
    server.lacking_looks = 2
    database = cast("SourceDatabase", server)
    published = {"shop": Published("", "", 0, "uuid", 1, "uuid:1-6")}
    assert not await_shown({"shop": database}, published, 0, lambda _: False)
    assert await_shown({"shop": database}, published, 60, lambda _: False)
    assert server.subsets == 3


def test_a_server_that_cannot_tell_is_not_waited_for() -> None:
    assert shows(cast("SourceDatabase", Server("", "OFF", LOG)), "")
    assert shows(cast("SourceDatabase", Server("uuid:1-5", "OFF_PERMISSIVE", LOG)), "uuid:1-6")
