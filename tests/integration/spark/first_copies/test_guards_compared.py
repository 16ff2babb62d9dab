"""Guards of a copy that another hand changed: `reconcile` names them, and `--repair` mends them or
says why not.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.envelope import order_text
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.comparison.guards import AHEAD, DISAGREE
from spark_jobs.config.job import JobSettings
from tests.integration.spark.sinks.test_mirror_sink import section
from tests.support.copies.first_copies import NOON_MS, job_settings, publish_position, source

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]
RAISED = order_text(NOON_MS, 999)
LOWERED = order_text(NOON_MS, 1)


@pytest.fixture
def name(fresh_name: Callable[[str], str], mariadb: MariaDB, kafka: Kafka) -> str:
    """A database with a table of five rows, whose instance has published everything."""
    name = fresh_name("guards")
    create = f"create table {name}.t (id int primary key, n int)"
    mariadb.execute(
        f"create database {name}",
        create,
        f"insert into {name}.t values (1,1),(2,2),(3,3),(4,4),(5,5)",
    )
    publish_position(kafka, name, "one", mariadb, 100)
    return name


def settings_of(
    name: str, mariadb: MariaDB, kafka: Kafka, folder: Path, **more: object
) -> JobSettings:
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    return job_settings(kafka, folder, name, mapping, source("one", mariadb), **more)


@pytest.mark.long
def test_guards_that_were_changed_are_named_and_repaired_or_said_why_not(
    spark: SparkSession, mariadb: MariaDB, kafka: Kafka, name: str, tmp_path: Path
) -> None:
    settings = settings_of(name, mariadb, kafka, tmp_path)
    bootstrap.run(settings)
    copy = DeltaTable.forPath(spark, f"{settings.copy_root}/shop/t")
    copy.update("id = 1", {"_order": f"'{LOWERED}'"})
    copy.update("id = 2", {"_order": f"'{RAISED}'"})
    copy.update("id = 3", {"_order": f"'{RAISED}'", "_execute_position": "999"})
    copy.update("id = 4", {"_execute_position": "999", "n": "44"})
    publish_position(kafka, name, "one", mariadb, 200)

    (found,) = reconcile.run(settings)
    assert {row.key: tuple(row.what) for row in found.different} == {
        '["shop.t","1"]': (DISAGREE,),
        '["shop.t","2"]': (DISAGREE, AHEAD),
        '["shop.t","3"]': (AHEAD,),
        '["shop.t","4"]': ("n", DISAGREE, AHEAD),
    }
    (repaired,) = reconcile.run(settings, repair=True)
    assert {row.key for row in repaired.repaired} >= {'["shop.t","1"]'}
    left = {row.key: row for row in repaired.different}
    assert left.keys() >= {'["shop.t","3"]', '["shop.t","4"]'}
    assert all(
        "is above" in row.reason and "remove the row from the copy and repair again" in row.reason
        for row in left.values()
    )

    copy.delete("id in (2, 3, 4)")
    (mended,) = reconcile.run(settings, repair=True)
    assert (mended.outcome, len(mended.repaired)) == (Outcome.EQUAL, 3)


@pytest.mark.long
def test_the_guards_of_a_mirror_are_compared_too(
    mariadb: MariaDB, mysql_9: SqlServer, kafka: Kafka, name: str, tmp_path: Path
) -> None:
    prefix = f"{name}_copy_"
    settings = settings_of(
        name, mariadb, kafka, tmp_path, sink="jdbc", mirror=section(mysql_9, prefix)
    )
    bootstrap.run(settings)
    copy = f"{prefix}shop.t"
    mysql_9.execute(
        f"update {copy} set _order = '{RAISED}' where id = 1",
        f"update {copy} set _deleted = 1 where id = 2",
    )
    mysql_9.execute(f"update {copy} set _order = '{LOWERED}' where id = 3")
    mariadb.execute(f"delete from {name}.t where id = 3")
    publish_position(kafka, name, "one", mariadb, 200)
    (found,) = reconcile.run(settings, repair=True)
    assert {row.key for row in found.repaired} == {'["shop.t","2"]', '["shop.t","3"]'}
    (left,) = found.different
    assert (left.key, tuple(left.what)) == ('["shop.t","1"]', (DISAGREE, AHEAD))
    assert f"its guard {RAISED} is above" in left.reason
