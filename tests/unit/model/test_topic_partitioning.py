"""How rows of a topic are placed: what a change moves, and that instances of one topic never place
a key in two partitions.
"""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.model.records.topic_partitioning import (
    Feeder,
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
    repartitioned_share,
)

RULES = PartitioningRules(".*\\..*:$pk$", True, "logical")
FOUR, EIGHT = TopicPartitioning(4, RULES), TopicPartitioning(8, RULES)


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_share_of_moved_keys_is_the_one_that_is_counted(before: int, after: int) -> None:
    hashes = range(before * after)
    assert repartitioned_share(before, after) == Fraction(
        sum(each % before != each % after for each in hashes), len(hashes)
    )


def test_rules_differ_in_each_of_their_parts() -> None:
    others = [
        RULES._replace(partition_hash="shop.t:id"),
        RULES._replace(database_hash=False),
        RULES._replace(names="real"),
    ]
    assert len({RULES.digest, *(each.digest for each in others)}) == 4


def test_a_newcomer_that_differs_waits_and_stops_nobody() -> None:
    first = TopicAgreement().with_feeder("a", FOUR)
    with_newcomer = first.with_feeder("b", EIGHT)
    assert with_newcomer.differing("b", EIGHT) == {"a": FOUR}
    assert not with_newcomer.feeders["b"].joined
    again = with_newcomer.with_feeder("a", FOUR)
    assert again == with_newcomer
    assert again.differing("a", FOUR) == {}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_after_all_were_changed_all_publish_in_whatever_order_they_come(order: str) -> None:
    agreement = TopicAgreement().with_feeder("a", FOUR).with_feeder("b", FOUR)
    for _ in range(2):
        for each in order:
            agreement = agreement.with_feeder(each, EIGHT)
    assert agreement.feeders == dict.fromkeys("ab", Feeder(EIGHT, joined=True))


def test_an_instance_that_is_gone_holds_nobody_back() -> None:
    agreement = (
        TopicAgreement().with_feeder("a", FOUR).with_feeder("gone", FOUR).with_feeder("a", EIGHT)
    )
    assert not agreement.feeders["a"].joined
    assert agreement.without_feeders(["gone"]).with_feeder("a", EIGHT).feeders["a"].joined


def test_no_two_instances_publish_and_place_rows_differently_whatever_they_ask_for_when() -> None:
    """Every order of three requests each of two instances, with two placings: those that have
    joined agree.
    """
    for requests in product(product("ab", (FOUR, EIGHT)), repeat=5):
        agreement = TopicAgreement()
        for instance, partitioning in requests:
            agreement = agreement.with_feeder(instance, partitioning)
            assert (
                len({each.partitioning for each in agreement.feeders.values() if each.joined}) <= 1
            )


def test_an_instance_with_another_format_waits_and_one_of_an_older_relay_is_not_compared() -> None:
    first = TopicAgreement().with_feeder("a", FOUR, "avro")
    second = first.with_feeder("b", FOUR, "canal-json")
    assert second.differing_formats("b", "canal-json") == {"a": "avro"}
    assert not second.feeders["b"].joined
    assert second.differing_formats("a", "avro") == {}, "a newcomer stops nobody"
    assert second.with_feeder("b", FOUR, "avro").feeders["b"].joined
    older = TopicAgreement().with_feeder("a", FOUR)
    assert older.with_feeder("b", FOUR, "avro").feeders["b"].joined
    gone = second.without_feeders(("a",)).with_feeder("b", FOUR, "canal-json")
    assert gone.feeders["b"].joined


def test_an_instance_notes_its_format_before_its_first_row_and_a_newcomer_waits() -> None:
    older = TopicAgreement().with_feeder("a", FOUR)
    noted = older.with_format("a", "canal-json")
    assert not noted.with_feeder("b", FOUR, "avro").feeders["b"].joined
    assert noted.with_feeder("a", FOUR, "canal-json").feeders["a"].joined
    assert noted.with_format("a", "avro") == noted, "a noted format stays"
    assert older.with_format("b", "avro") == older, "it does not feed the topic"
    mixed = older.with_feeder("b", FOUR).with_format("b", "avro")
    assert mixed.with_format("a", "canal-json") == mixed, "the next join decides"
    assert mixed.with_feeder("b", FOUR, "avro").feeders["b"].joined
    waiting = noted.with_feeder("b", FOUR, "avro")
    assert waiting.with_format("b", "canal-json") == waiting
