"""Rules and masks before every place for copies on real servers: what is copied, compared and
repaired is what messages would show.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from hmac import digest
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import HBase, Kafka, MariaDB, MySQL
from relay.model.message import OutboundMessage
from relay.refine import configuration_of_rows
from spark_jobs import bootstrap, reconcile
from spark_jobs.apply.apply import Copies
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings
from spark_jobs.sinks import live_rows, open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.copies.spark_copies import change, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

SALT = "a salt that nobody would guess"
CUSTOMER = (
    "mail varchar(60) primary key, phone char(20), born date, note text, state "
    "enum('draft','sold'), total decimal(10,2)"
)
CUSTOMERS = (
    ("ann@secret.example", "+49-SECRET-1", "1970-01-01", "SECRET of Ann", "sold", "1.50"),
    ("bob@secret.example", "SECRET", "1980-02-02", "SECRET of Bob", "draft", "2.50"),
    ("joe@secret.example", None, None, None, "sold", None),
)


def asked(name: str) -> Mapping[str, Any]:
    """A condition, a column that is left out, and a mask of each kind, one of them on the key."""
    return {
        "rules": [
            {"tables": f"{name}\\.customer", "where": "state = 'sold'"},
            {"tables": f"{name}\\..*", "without_fields": ["note"]},
        ],
        "masks": [
            {"columns": f"{name}\\.customer\\.mail", "method": "hash", "salt": SALT},
            {"columns": f"{name}\\.customer\\.phone", "method": "truncate", "length": 2},
            {"columns": f"{name}\\.customer\\.born", "method": "replace"},
        ],
    }


def masked(mail: str) -> str:
    return digest(SALT.encode(), mail.encode(), "sha256").hex()


ANN, BOB, JOE = (masked(row[0]) for row in CUSTOMERS)
SHOWN = {
    ANN: {"mail": ANN, "phone": "+4", "born": None, "state": "sold", "total": Decimal("1.50")},
    JOE: {"mail": JOE, "phone": None, "born": None, "state": "sold", "total": None},
}


def place_of(request: pytest.FixtureRequest, sink: str, name: str) -> Mapping[str, Any]:
    """The section that names the place; none of them is the server that is copied."""
    if sink == "hbase":
        hbase: HBase = request.getfixturevalue("hbase")
        return {"hbase": {"thrift": [hbase.address], "namespace": name}}
    if sink == "jdbc":
        server: MySQL = request.getfixturevalue("mysql_9")
        return {
            "mirror": {
                "host": server.host,
                "port": server.port,
                "user": server.admin,
                "password": server.admin,
                "prefix": f"{name}_",
            }
        }
    return {}


def live(spark: SparkSession, settings: JobSettings) -> Mapping[str, Mapping[str, object]]:
    """The rows that a reader of the copy sees, by their masked key."""
    copy = open_sink(spark, settings).read("shop.customer")
    assert copy is not None
    return {row["mail"]: row.asDict() for row in live_rows(copy).collect()}


def message(kind: str, mail: str) -> OutboundMessage:
    """A change that the source never made, behind the first copy's pair."""
    types = {"mail": "varchar(64)", "phone": "char(20)"}
    return change(
        "t",
        kind,
        mail,
        150,
        table="customer",
        types=types,
        fields={"pkNames": ["mail"]},
        mail=mail,
        phone="+1",
    )


@pytest.mark.parametrize(
    "sink", ["parquet", *(pytest.param(each, marks=pytest.mark.long) for each in ("jdbc", "hbase"))]
)
def test_what_rules_hide_is_neither_copied_nor_compared_nor_repaired(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    sink: str,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("ruled")
    mariadb.execute(
        f"create database {name} character set utf8mb4",
        f"create table {name}.customer ({CUSTOMER})",
    )
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.executemany(
            f"insert into {name}.customer values (%s, %s, %s, %s, %s, %s)", CUSTOMERS
        )
        connection.commit()
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    server = {**source("shop", mariadb), **asked(name)}
    settings = job_settings(
        kafka, tmp_path, name, mapping, server, sink=sink, **place_of(request, sink, name)
    )
    rules = configuration_of_rows(settings.sources[0])

    publish_position(kafka, name, "shop", mariadb, 100, rows=rules)
    assert bootstrap.run(settings)["shop.customer"].rows == len(SHOWN)
    assert live(spark, settings) == SHOWN

    Copies.of(spark, settings).apply(
        records(spark, [message("UPDATE", ANN), message("INSERT", BOB), message("DELETE", JOE)]),
        "tests",
    )
    assert {mail: row["phone"] for mail, row in live(spark, settings).items()} == {
        ANN: "+1",
        BOB: "+1",
    }
    publish_position(kafka, name, "shop", mariadb, 200, rows=rules)
    (found,) = reconcile.run(settings, repair=True)
    assert {each.key for each in found.repaired} == {
        f'["shop.customer","{mail}"]' for mail in (ANN, BOB, JOE)
    }
    assert (found.outcome, live(spark, settings)) == (Outcome.EQUAL, SHOWN)
