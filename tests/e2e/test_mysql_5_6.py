"""MySQL 5.6 end to end: names from the source's catalogue, temporal types of both formats, and every value as the server prints it."""

from typing import Any

import pytest

from deploy.embedded import Kafka, MySQL56
from tests.e2e.conftest import NewInstallation
from tests.support.old_temporals import create_old_table
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
from tests.support.waiting import wait_until

_COLUMNS = (
    "id int primary key, t0 time, t3 time(3), t6 time(6), d0 datetime, d4 datetime(4), d6 datetime(6), s0 timestamp null, "
    "s6 timestamp(6) null, dd date, y year, b bigint unsigned, m mediumint, l varchar(20) character set latin1,"
    " g char(4) character set gbk, e enum('klein','groß'), k set('a','b'), n decimal(20,5), f float, bits bit(12)"
)
_ROWS = (
    (
        "1, '10:11:12', '10:11:12.345', '-00:00:00.000001', '2026-01-31 01:02:03', '2026-01-31 01:02:03.4567', '0000-00-00 00:00:00', "
        "'2026-01-31 01:02:03', '2026-01-31 01:02:03.000007', '2026-00-00', 1901, 18446744073709551615, -8388608, 'Größe', '中文', 2, 3, "
        "-12345.60000, 1.5, b'101'"
    ),
    (
        "2, '-838:59:59', '-838:59:59.000', '838:59:59', '9999-12-31 23:59:59', '1000-01-01 00:00:00.0001', '2026-12-31 23:59:59.999999', "
        "'0000-00-00 00:00:00', '1970-01-01 00:00:01.500000', '9999-12-31', 0, 9223372036854775808, 8388607, '', '', 1, '', 0, 0, b'0'"
    ),
    "3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null",
)
_OLD_ROWS = (
    "1, '10:11:12', '2026-01-31 01:02:03', '2026-01-31 01:02:03'",
    "2, '-838:59:59', '0000-00-00 00:00:00', '0000-00-00 00:00:00'",
    "3, '838:59:59', '9999-12-31 23:59:59', null",
    "4, null, '1000-00-01 00:00:00', '2038-01-19 03:14:07'",
)


def _truth(server: MySQL56, table: str) -> list[dict[str, Any]]:
    """Every value as the server itself writes it in Unicode."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"show columns from {table}")
        names = [str(row[0]) for row in cursor.fetchall()]
        casts = ", ".join(f"cast({name}+0 as char)" if name == "bits" else f"cast({name} as char character set utf8mb4)" for name in names)
        cursor.execute(f"select {casts} from {table} order by id")
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("v1", ["OFF", "ON"], ids=["row events v2", "row events v1"])
def test_every_value_is_as_the_server_prints_it(mysql_5_6: MySQL56, kafka: Kafka, new_installation: NewInstallation, v1: str) -> None:
    installation = new_installation(mysql_5_6, kafka)
    name = installation.name
    mysql_5_6.execute(f"create table {name}.f ({_COLUMNS})", f"set global log_bin_use_v1_row_events = {v1}")
    create_old_table(mysql_5_6, name, "old")
    rows = [f"insert into {name}.f values ({row})" for row in _ROWS] + [f"insert into {name}.old values ({row})" for row in _OLD_ROWS]
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mysql_5_6.execute("set sql_mode = ''", *rows, f"update {name}.f set m = 7 where id = 1", f"delete from {name}.f where id = 3")
        mysql_5_6.execute("set global log_bin_use_v1_row_events = off")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == len(rows) + 2, "every change")
        assert relay.stop() == 0
    values = [each.value or {} for each in sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)]
    inserted = [value["data"][0] for value in values if value["type"] == "INSERT" and value["table"] == "f"]
    truth = _truth(mysql_5_6, f"{name}.f")
    assert inserted[0] == {**truth[0], "m": "-8388608"}
    assert inserted[1] == truth[1]
    assert set(inserted[2].values()) == {"3", None}
    assert [value["data"][0] for value in values if value["table"] == "old"] == _truth(mysql_5_6, f"{name}.old")
    update, delete = values[-2:]
    assert (update["type"], update["data"][0], update["old"]) == ("UPDATE", truth[0], [{"m": "-8388608"}])
    assert (delete["type"], delete["data"][0]["id"], delete["pkNames"]) == ("DELETE", "3", ["id"])
