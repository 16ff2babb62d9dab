"""The example of Flink SQL, run as it is in a real Flink."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.client.conftest import Shop
from tests.e2e.client.test_moved_table import move_and_wait
from tests.e2e.formats.zoo_topics import read_records
from tests.snapshots.commands import roma, wait_for
from tests.support.flink.flink_sql import Cells, Change, folded, run, running
from tests.support.waiting import wait_until

EXAMPLE: Final = Path(__file__).parents[3] / "examples" / "flink" / "orders_by_state.sql"
DUPLICATES: Final = "table.exec.source.cdc-events-duplicate"
SOURCE: Final = (
    "select state, count(*), sum(amount), date_format(max(paid_at), '%%Y-%%m-%%dT%%H:%%i:%%s') "
    "from {name}.orders group by state"
)


def statements(shop: Shop, *, bounded: bool = False) -> list[str]:
    """The statements of the file, for the topic and the names of the test."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.partition("-- ")[0] for line in lines)
    text = text.replace("'shop-rows'", f"'{shop.name}'").replace("'shop'", f"'{shop.name}'")
    text = text.replace("'kafka:9092'", f"'{shop.kafka.bootstrap}'")
    if bounded:
        text = text.replace("WITH (", "WITH ('scan.bounded.mode' = 'latest-offset',")
    return [each for each in text.split(";") if each.strip()]


def view(changes: Path) -> Counter[Cells]:
    """The result after all whole lines that Flink has written."""
    lines = changes.read_text(encoding="ascii").splitlines(keepends=True)
    return folded(Change.read(each) for each in lines if each.endswith("\n"))


def in_the_source(shop: Shop) -> Counter[Cells]:
    with shop.mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("set time_zone = '+00:00'")
        cursor.execute(SOURCE.format(name=shop.name).replace("%%", "%"))
        return Counter(tuple(str(each).encode() for each in row) for row in cursor.fetchall())


def make_orders(shop: Shop) -> None:
    shop.execute(
        f"create table {shop.name}.orders (id int primary key, state varchar(20), "
        "amount decimal(10, 2), paid_at timestamp null)"
    )
    shop.execute(
        *(
            f"insert into {shop.name}.orders values ({number}, 'open', {number}.25, "
            f"'2026-11-25 08:00:{number:02}')"
            for number in range(20)
        )
    )


def copy(shop: Shop) -> None:
    """Publish all rows again."""
    number = roma(shop.installation, "start", f"{shop.name}.orders").split()[0]
    wait_for(shop.installation, number, "DONE")


@pytest.mark.long
def test_flink_passes_over_copied_rows_and_markers(shop: Shop, tmp_path: Path) -> None:
    make_orders(shop)
    copy(shop)
    with running(statements(shop), tmp_path) as changes:
        wait_until(lambda: view(changes) == in_the_source(shop), "the view of copied rows", 120)
        move_and_wait(shop, f"{shop.name}-second")
        move_and_wait(shop, shop.name)
        shop.execute(
            f"update {shop.name}.orders set state = 'paid', amount = 9.5 where id < 7",
            f"delete from {shop.name}.orders where id in (3, 15)",
        )
        copy(shop)
        shop.execute(
            f"insert into {shop.name}.orders values (99, 'last', 1.5, '2026-11-25 08:30:01')"
        )
        wait_until(lambda: view(changes) == in_the_source(shop), "the view of the source")
    records = read_records(shop.kafka.bootstrap, shop.name)
    assert any("moved" in each.headers and each.value is None for each in records)
    assert sum(each.is_copy for each in records) >= 38


@pytest.mark.long
def test_without_the_setting_copied_rows_are_counted_twice(shop: Shop) -> None:
    make_orders(shop)
    copy(shop)
    found = folded(run(statements(shop, bounded=True)))
    assert found == in_the_source(shop)
    wrong = [each for each in statements(shop, bounded=True) if DUPLICATES not in each]
    ((_, count, *_),) = folded(run(wrong))
    assert count == b"40"
