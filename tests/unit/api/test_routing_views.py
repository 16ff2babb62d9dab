"""Instances that route alike are spoken of together."""

import pytest

from api.errors import BadRequest, NoSuchThing
from api.services.mappings.routing_views import (
    changes_between,
    routing_views,
    tables_to_speak_of,
    view_of,
)
from relay.model.table import TableId
from relay.route import DBS, TBS, TOPICS, MappingSet
from relay.settings import InstanceSettings


def instance(name: str, **more: object) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": name, "source": {"host": "h", "user": "u", "server_id": 1}, **more}
    )


BEFORE = {
    DBS: '[{"logicDb":"shop","realDbs":"a,/b_\\\\d/"}]',
    TBS: '[{"logicTb":"t","realTbs":"t1"}]',
    TOPICS: '[{"logicDb":"shop","topic":"x"}]',
}
AFTER = {**BEFORE, TOPICS: '[{"logicDb":"shop","topic":"y"}]'}


def test_equal_instances_share_a_view() -> None:
    views = routing_views(
        [instance("a"), instance("b", routing={"unmapped_db": "stop"}), instance("c")]
    )
    assert [view.instances for view in views] == [("a", "c"), ("b",)]
    assert view_of(views, "c") is views[0]
    with pytest.raises(BadRequest, match="differently"):
        view_of(views, None)
    with pytest.raises(NoSuchThing):
        view_of(views, "d")


def test_without_instances_the_defaults_speak() -> None:
    views = routing_views([])
    assert view_of(views, None).instances == ()


def test_databases_are_spoken_of_even_where_no_table_is_named() -> None:
    tables, left_out = tables_to_speak_of(
        [(MappingSet.compile(1, BEFORE), BEFORE)], ["b_1.seen", "nonsense"]
    )
    assert left_out == []
    assert tables == {TableId("a", "t1"), TableId("a", "*"), TableId("b_1", "seen")}


def test_tables_are_counted_before_they_are_made() -> None:
    names = ",".join(f"n{number}" for number in range(1000))
    wide = {
        **BEFORE,
        DBS: f'[{{"logicDb":"shop","realDbs":"{names}"}}]',
        TBS: f'[{{"logicTb":"t","realTbs":"{names}"}}]',
    }
    mapping = MappingSet.compile(1, wide)
    tables, (left_out,) = tables_to_speak_of([(mapping, wide)], ["n1.seen"])
    assert len(tables) == 1001
    assert "up to 1000000 tables" in left_out.sentence
    assert "named_tables" not in vars(mapping)


def test_what_a_filter_keeps_out_does_not_change() -> None:
    views = routing_views(
        [instance("all"), instance("some", filter={"filter_black_regex": "a\\.t1"})]
    )
    tables = [TableId("a", "t1"), TableId("a", "t2")]
    found = changes_between(
        views, MappingSet.compile(1, BEFORE), MappingSet.compile(2, AFTER), tables
    )
    assert [(change.instances, change.tables) for change in found] == [
        (("all",), ("a.t1", "a.t2")),
        (("some",), ("a.t2",)),
    ]


def test_a_bare_rule_names_no_table_in_a_database_that_has_only_others() -> None:
    """Two databases and two bare tables make four names; relays have read two of them."""
    documents = {
        DBS: '[{"logicDb":"shop","realDbs":"a"},{"logicDb":"ads","realDbs":"b"}]',
        TBS: '[{"logicTb":"order","realTbs":"order"},{"logicTb":"banner","realTbs":"banner"},'
        '{"logicTb":"new","realTbs":"new"}]',
        TOPICS: '[{"logicDb":"shop","topic":"x"},{"logicDb":"ads","topic":"y"}]',
    }
    tables, _ = tables_to_speak_of(
        [(MappingSet.compile(1, documents), documents)], ["a.order", "b.banner"]
    )
    named = {str(each) for each in tables if each.table != "*"}
    assert named == {"a.order", "b.banner", "a.new", "b.new"}


def test_the_rest_of_a_database_is_not_spoken_of_where_the_filter_leaves_it_out() -> None:
    deaf = instance("deaf", filter={"filter_regex": r"other\..*"})
    keen = instance("keen", filter={"filter_regex": r"a\..*"})
    found = changes_between(
        routing_views([deaf, keen]),
        MappingSet.compile(1, BEFORE),
        MappingSet.compile(2, AFTER),
        [TableId("a", "*")],
    )
    assert [each.instances for each in found] == [("keen",)]
