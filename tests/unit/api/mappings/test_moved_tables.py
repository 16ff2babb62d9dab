"""A dry run asks for a raised floor where rows of a logical table may move to another instance."""

from typing import Any

from api.services.mappings.effects.moved_tables import moved_tables
from relay.model.table import TableId
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

MET = {"one": [TableId("shop_1", "t")], "two": [TableId("crm", "t"), TableId("crm", "u")]}


def mapping(*dbs: tuple[str, str]) -> MappingSet:
    entries = [{"logicDb": logical, "realDbs": real} for logical, real in dbs]
    topics = [
        {"logicDb": logical, "topic": logical}
        for logical in dict.fromkeys(logical for logical, _ in dbs)
    ]
    return MappingSet.compile(1, documents(dbs=entries, topics=topics))


def hints(before: MappingSet, after: MappingSet, **routing: Any) -> list[str]:
    instances = [
        InstanceSettings.model_validate(
            {"name": name, "source": {"host": "h", "user": "u"}, "routing": routing}
        )
        for name in ("one", "two")
    ]
    return [each.sentence for each in moved_tables(instances, before, after, MET)]


def test_a_table_that_another_instance_newly_feeds_is_told() -> None:
    (hint,) = hints(mapping(("shop", "shop_1"), ("crm", "crm")), mapping(("shop", "shop_1,crm")))
    assert hint.startswith("shop.t is fed by one, and newly by two too: ")
    assert "`roma position raise-floor two --above one`" in hint


def test_a_table_that_moves_is_told() -> None:
    (hint,) = hints(mapping(("shop", "shop_1")), mapping(("shop", "crm"), ("old", "shop_1")))
    assert hint.startswith("shop.t moves from one to two: ")


def test_an_unmet_database_beside_a_fed_one_is_told() -> None:
    (hint,) = hints(mapping(("shop", "shop_1")), mapping(("shop", "shop_1,shop_2")))
    assert hint.startswith("No instance has read shop_2 yet, and one feeds shop. ")
    assert "`roma position raise-floor INSTANCE --above one`" in hint


def test_edits_that_move_nothing_need_no_floor() -> None:
    both = mapping(("shop", "shop_1,crm"))
    assert hints(both, both) == []
    assert hints(both, mapping(("store", "shop_1,crm"))) == [], "both feed a new logical database"
    assert hints(mapping(("shop", "shop_1")), both, key_scope="shard") == [], (
        "keys hold the real table"
    )
    assert hints(MappingSet.empty(), both) == [], "nothing was published before"
