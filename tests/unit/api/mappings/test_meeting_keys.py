"""A dry run says which tables would come to a topic where equal keys have other partitions."""

from typing import Any

from api.services.mappings.effects.meeting_keys import MeetingKeys
from relay.model.table import tables_named
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

MET = {
    "one": tables_named(["shop_1.people"]),
    "two": tables_named(["shop_2.people", "shop_2.orders", "odd.t"]),
}


class Store:
    """Forms by topic, logical table and real table; nothing can be written."""

    def __init__(self, **forms: tuple[str, ...]) -> None:
        self._forms = forms

    def read(self, topic: str, table: str, _rules: str, shard: str = "") -> tuple[str, ...]:
        name = f"{topic}_{table}_{shard}".rstrip("_").replace(".", "_")
        return self._forms.get(name, ())

    def read_shards(self, topic: str, table: str, _rules: str) -> dict[str, tuple[str, ...]]:
        begin = f"{topic}_{table}".replace(".", "_")
        return {
            ".".join(name.removeprefix(begin).strip("_").rsplit("_", 1)): forms
            for name, forms in self._forms.items()
            if name.startswith(begin)
        }

    def change(self, *_: Any, **__: Any) -> None:
        raise AssertionError("a dry run writes nothing")


def mapping(number: int, **topics: str) -> MappingSet:
    """Return a set by logical database → its real databases, each with a topic of its name."""
    return MappingSet.compile(
        number,
        documents(
            dbs=[{"logicDb": name, "realDbs": real} for name, real in topics.items()],
            topics=[{"logicDb": name, "topic": name} for name in topics],
        ),
    )


APART = mapping(1, a="shop_1", b="shop_2")
TOGETHER = mapping(2, a="shop_1,shop_2")


def instance(name: str, **settings: Any) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": name, "source": {"host": "h", "user": "u"}, **settings}
    )


def sentences(store: Store, before: MappingSet, after: MappingSet, **settings: Any) -> list[str]:
    instances = [instance("one", **settings), instance("two", **settings)]
    return [each.sentence for each in MeetingKeys(MET, store).changes(instances, before, after)]


def test_keys_with_another_form_in_the_next_topic_are_told() -> None:
    store = Store(a_a_people=("latin1",), b_b_people=("utf8",), b_b_orders=("-",))
    (told,) = sentences(store, APART, TOGETHER)
    assert "The first row of shop_2.people in topic a may stop its instance" in told
    assert "PARTITIONS_CHANGED" in told
    assert "keys of a.people were hashed for topic a in the form latin1" in told
    assert "hashed in the form utf8" in told
    assert "roma position repartition INSTANCE --topic a --table a.people" in told
    assert sentences(store, APART, APART) == []


def test_equal_and_unknown_forms_are_not_told() -> None:
    assert sentences(Store(a_a_people=("utf8",), b_b_people=("utf8",)), APART, TOGETHER) == []
    assert sentences(Store(a_a_people=("utf8",)), APART, TOGETHER) == []
    assert sentences(Store(b_b_people=("utf8",)), APART, TOGETHER) == []
    new = mapping(1, a="shop_1")
    store = Store(a_a_people=("latin1",), b_b_people=("utf8",))
    assert sentences(store, new, TOGETHER) == [], "it was published nowhere"


def test_tables_that_meet_in_a_new_topic_are_compared_with_each_other() -> None:
    store = Store(a_a_people=("latin1",), b_b_people=("utf8",))
    (told,) = sentences(store, APART, mapping(2, c="shop_1,shop_2"))
    assert "keys of c.people were hashed for topic c in the form latin1" in told
    accepted = Store(a_a_people=("latin1", "utf8"))
    (told,) = sentences(accepted, mapping(1, a="shop_1"), mapping(2, c="shop_1"))
    assert "shop_1.people in topic c" in told


def test_keys_that_name_their_real_table_meet_no_other() -> None:
    def shard(store: Store) -> list[str]:
        return sentences(store, APART, TOGETHER, routing={"key_scope": "shard"})

    forms = {"a_a_people_shop_1_people": ("latin1",), "b_b_people_shop_2_people": ("utf8",)}
    assert shard(Store(**forms)) == []
    (told,) = shard(Store(**forms, a_a_people_shop_2_people=("latin1",)))
    assert "The first row of shop_2.people in topic a" in told
