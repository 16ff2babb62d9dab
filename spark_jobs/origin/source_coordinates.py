"""Reads the present coordinates of a source, and checks whether an instance has published
everything up to them.
"""

from dataclasses import dataclass
from typing import Final

from relay.model.positions.position import BinlogPosition
from spark_jobs.errors import SourceRefused, TableChanged
from spark_jobs.origin.database import SourceDatabase

_LOG_STATUS: Final = (
    "SELECT JSON_UNQUOTE(JSON_EXTRACT(LOCAL, '$.binary_log_file')) AS file, "
    "CAST(JSON_EXTRACT(LOCAL, '$.binary_log_position') AS UNSIGNED) AS offset FROM "
    "performance_schema.log_status"
)


@dataclass(frozen=True, slots=True)
class SourceCoordinates:
    """The GTID set or the binlog coordinates of all transactions that a source had committed."""

    mariadb: bool
    gtid_set: str = ""
    file: str = ""
    offset: int = 0


def coordinates_now(database: SourceDatabase) -> SourceCoordinates | None:
    """Return the present coordinates of a source.

    Returns None if the source has no GTIDs and the user may not see its binlog position.
    """
    if "mariadb" in database.rows("SELECT @@version AS version")[0]["version"].lower():
        return SourceCoordinates(
            True, database.rows("SELECT @@GLOBAL.gtid_binlog_pos AS place")[0]["place"]
        )
    gtids = database.rows("SELECT @@GLOBAL.gtid_executed AS place, @@GLOBAL.gtid_mode AS mode")[0]
    if gtids["place"] and gtids["mode"] == "ON":  # in other modes transactions may have none
        return SourceCoordinates(False, gtids["place"].replace("\n", ""))
    try:
        log = database.rows(_LOG_STATUS)[0]
    except (SourceRefused, TableChanged):  # before 8.0 there is no such table
        return None
    return SourceCoordinates(False, "", log["file"], int(log["offset"]))


def covered(
    database: SourceDatabase, place: SourceCoordinates, gtid_set: str, file: str, offset: int
) -> bool:
    """Return whether a position of the source equals the coordinates `place` or is after them.

    gtid_set      the position as text; "" without GTIDs
    file, offset  the position as binlog coordinates
    """
    if place.mariadb:
        return mariadb_covers(gtid_set, place.gtid_set)
    if place.gtid_set:
        sets = (f"X'{each.encode().hex()}'" for each in (place.gtid_set, gtid_set))
        asked = database.rows(
            f"SELECT GTID_SUBSET({', '.join(f'CONVERT({each} USING utf8mb4)' for each in sets)}) "
            f"AS covered"
        )
        return bool(asked[0]["covered"])
    return BinlogPosition(file, offset).rank >= BinlogPosition(place.file, place.offset).rank


def shows(database: SourceDatabase, gtid_set: str) -> bool:
    """Return whether SELECTs of the source see all transactions of a published GTID set.

    Returns True if the server cannot report that (MariaDB, MySQL without GTIDs). MySQL adds a
    transaction to gtid_executed after its commit; one that waits for a semi-synchronous replica is
    published before that.
    """
    now = coordinates_now(database) if gtid_set else None
    if now is None or not now.gtid_set or now.mariadb:
        return True
    return covered(database, SourceCoordinates(False, gtid_set), now.gtid_set, "", 0)


def mariadb_covers(published: str, place: str) -> bool:
    """Return whether a MariaDB GTID position contains another one, `place`.

    For every domain of `place`, `published` must have the same or a greater sequence number.
    """
    reached = _sequences(published)
    return all(
        reached.get(domain, -1) >= sequence for domain, sequence in _sequences(place).items()
    )


def _sequences(text: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in filter(None, (part.strip() for part in text.split(","))):
        domain, _, sequence = (int(number) for number in each.split("-"))
        found[domain] = max(found.get(domain, 0), sequence)
    return found
