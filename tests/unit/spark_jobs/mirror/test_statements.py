"""What a mirror is told, as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.mysql.statements import (
    alter_table,
    create_table,
    forget,
    orders_of,
    pieces,
    place_of,
    select_piece,
    upsert,
)

PLACE = place_of("shop.orders", "copy_")


def test_a_name_stays_a_name() -> None:
    assert PLACE == "`copy_shop`.`orders`"
    assert place_of("a`b.c.d", "") == "`a``b`.`c.d`"


def test_the_order_is_compared_for_every_column_and_set_last() -> None:
    statement = upsert(PLACE, ["no`te", "100%"], 2)
    assert statement.startswith("INSERT INTO `copy_shop`.`orders` (`_key_hash`, `_key`, `_order`, ")
    assert statement.count("(%s, %s, %s, %s, %s, %s, %s, %s, %s)") == 2
    assert "`no``te` = IF(VALUES(`_order`) >= `_order`, VALUES(`no``te`), `no``te`)" in statement
    assert "`100%%` = IF(" in statement
    assert statement.endswith("`_order` = GREATEST(`_order`, VALUES(`_order`))")
    assert statement.count("`_key_hash` = ") == 2


def test_a_row_of_another_key_is_refused_instead_of_written_over() -> None:
    """As a UNIQUE index that somebody added would have it."""
    assert (
        " UPDATE `_key_hash` = IF(`_key_hash` = VALUES(`_key_hash`), `_key_hash`, NULL), "
        in upsert(PLACE, ["id"], 1)
    )


def test_a_table_is_made_with_guards_and_columns_that_may_be_null() -> None:
    statement = create_table(PLACE, {"id": "BIGINT", "note": "LONGTEXT"})
    assert "`_key_hash` BINARY(32) NOT NULL PRIMARY KEY" in statement
    assert "`id` BIGINT NULL, `note` LONGTEXT NULL" in statement


def test_columns_are_added_and_widened_in_one_statement() -> None:
    assert (
        alter_table(PLACE, {"n": "INT"}, {"id": "BIGINT"})
        == f"ALTER TABLE {PLACE} ADD COLUMN `n` INT NULL, MODIFY COLUMN `id` BIGINT NULL"
    )


def test_questions_have_a_place_for_each_value() -> None:
    assert (
        orders_of("`a%`.`b`", 3)
        == "SELECT `_key_hash`, `_order` FROM `a%%`.`b` WHERE `_key_hash` IN (%s, %s, %s)"
    )
    assert select_piece(PLACE, ["id"], last=False).endswith(
        ", `_unfit`, `id` FROM `copy_shop`.`orders` WHERE `_key_hash` >= %s AND `_key_hash` < %s"
    )
    assert select_piece(PLACE, ["id"], last=True).endswith("WHERE `_key_hash` >= %s")
    assert forget(PLACE).endswith("WHERE `_deleted` AND `_execute_time` < %s")


@given(st.integers(2, 256), st.binary(min_size=32, max_size=32))
def test_every_hash_lies_in_one_piece(count: int, digest: bytes) -> None:
    assert (
        sum(
            first <= digest and (behind is None or digest < behind)
            for first, behind in pieces(count)
        )
        == 1
    )


@pytest.mark.parametrize("count", [2, 7, 256])
def test_pieces_are_as_many_as_asked_for(count: int) -> None:
    assert len(list(pieces(count))) == count
