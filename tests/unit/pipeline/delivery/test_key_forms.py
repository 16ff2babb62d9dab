"""Forms of keys of the instances of one topic: what differed before they were compared is reported,
and what is new stops.
"""

from collections.abc import Callable
from typing import Any

import pytest

from relay.errors import PartitionsChanged, StoreUnreachable
from relay.model.records.hashed_forms import HashedForms
from relay.model.table import TableId
from relay.pipeline.delivery.keys.key_forms import KeyForms
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.state import HashedKey, KeyAgreements

PEOPLE = TableId("shop", "people")


class Store:
    """The forms of one topic in memory."""

    def __init__(self) -> None:
        self.forms: dict[tuple[str, str], tuple[str, ...]] = {}
        self.is_away = False

    def read(self, _topic: str, table: str, _rules: str, shard: str = "") -> tuple[str, ...]:
        if self.is_away:
            raise StoreUnreachable("away")
        return self.forms.get((table, shard), ())

    def read_shards(self, _topic: str, table: str, _rules: str) -> dict[str, tuple[str, ...]]:
        return {shard: forms for (each, shard), forms in self.forms.items() if each == table}

    def change(
        self, topic: str, table: str, rules: str, change: Callable[..., Any], shard: str = ""
    ) -> Any:
        after = change(self.read(topic, table, rules, shard))
        if after is not None:
            self.forms[table, shard] = after
        return after


class History:
    """What an instance read before its session."""

    def __init__(self, *tables: str) -> None:
        self.tables = tables
        self.warnings: list[tuple[str, tuple[str, ...]]] = []
        self.questions = 0

    def had_rows(self, key: HashedKey) -> bool:
        self.questions += 1
        return str(key.shard or key.table) in self.tables

    def warn(self, key: HashedKey, others: tuple[str, ...]) -> None:
        self.warnings.append((key.form, others))


def instance(store: Store, forms: HashedForms | None, history: History) -> KeyForms:
    """Return the forms of an instance; without forms it has not published to the topic."""
    saved = PublishedPartitioning({} if forms is None else {"t": 4}, {}, forms or {}, {})
    return KeyForms(saved, KeyAgreements(store, "rules"), history)


def key(form: str, shard: str = "") -> HashedKey:
    return HashedKey("t", PEOPLE, form, TableId(*shard.split(".")) if shard else None)


def saved(*forms: str) -> HashedForms:
    return {"t": {str(PEOPLE): forms}}


def test_two_instances_that_differed_before_the_upgrade_both_continue_with_one_warning() -> None:
    store, first, second = Store(), History(), History()
    instance(store, saved("latin1"), first).keep(key("latin1"))
    instance(store, saved("utf8"), second).keep(key("utf8"))
    assert (first.warnings, second.warnings) == ([], [("utf8", ("latin1",))])
    instance(store, saved("latin1"), first).keep(key("latin1"))
    instance(store, saved("utf8"), second).keep(key("utf8"))
    assert (first.warnings, len(second.warnings)) == ([], 1)
    instance(store, {}, first).keep(HashedKey("t", TableId("a", "b"), "-", None))
    assert (first.questions, second.questions) == (0, 0), "only a plain key that differs asks"
    with pytest.raises(PartitionsChanged, match=r"latin1 \| utf8.*gbk"):
        instance(store, None, History()).keep(key("gbk"))


def test_the_order_in_which_plain_and_other_keys_are_compared_does_not_matter() -> None:
    for order in ("double", "-"), ("-", "double"):
        store, history = Store(), History(str(PEOPLE))
        for form in order:
            forms = saved(form) if form == "double" else {}
            instance(store, forms, history).keep(key(form))
        assert history.warnings == [(order[1], (order[0],))]


@pytest.mark.parametrize(
    ("forms", "tables"),
    [
        (None, [str(PEOPLE)]),
        ({}, []),
        (saved("binary", "?"), [str(PEOPLE)]),
        ({"t": {"shop.other": ("-",)}}, []),
    ],
    ids=["never fed the topic", "never read the table", "accepted for itself", "another table"],
)
def test_a_new_difference_stops(forms: HashedForms | None, tables: list[str]) -> None:
    store = Store()
    instance(store, saved("double"), History()).keep(key("double"))
    history = History(*tables)
    with pytest.raises(PartitionsChanged):
        instance(store, forms, history).keep(key("-"))
    assert history.warnings == []
    assert store.forms == {(str(PEOPLE), ""): ("double",)}, "nothing is noted"


def test_a_table_that_changes_in_the_session_is_new() -> None:
    store, history = Store(), History(str(PEOPLE))
    instance(store, saved("double"), History()).keep(key("double"))
    mine = instance(store, saved("binary", "?"), history)
    mine.keep(key("binary"))
    with pytest.raises(PartitionsChanged):
        mine.keep(key("-"))


def test_the_list_of_a_record_does_not_speak_for_a_shard_that_was_never_read() -> None:
    store = Store()
    instance(store, None, History()).keep(key("latin1", "db.new"))
    instance(store, None, History()).keep(key("latin1", "db.old"))
    history = History("db.old")
    mine = instance(store, saved("utf8"), history)
    with pytest.raises(PartitionsChanged):
        mine.keep(key("utf8", "db.new"))
    mine.keep(key("utf8", "db.old"))
    assert history.warnings == [("utf8", ("latin1",))]


def test_while_zookeeper_is_away_rows_of_a_published_topic_continue() -> None:
    class Away(History):
        def had_rows(self, _: HashedKey) -> bool:
            raise StoreUnreachable("away")

    store = Store()
    instance(store, saved("double"), History()).keep(key("double"))
    instance(store, {}, Away()).keep(key("-"))
    assert store.forms == {(str(PEOPLE), ""): ("double",)}


def test_keys_of_shards_that_name_their_real_table_never_meet() -> None:
    store, history = Store(), History()
    mine = instance(store, None, history)
    mine.keep(key("latin1", "db.one"))
    mine.keep(key("utf8", "db.two"))
    mine.keep(key("double", "db.three"))
    assert mine.known == saved("latin1", "utf8", "double")
    again = instance(store, mine.known, History("db.one", "db.two", "db.three"))
    again.keep(key("utf8", "db.two"))
    again.keep(key("latin1", "db.one"))
    again.keep(key("gbk", "db.four"))
    assert again.known == saved("latin1", "utf8", "double", "gbk")


def test_a_shard_that_changes_stops_although_another_one_has_the_form_already() -> None:
    store, history = Store(), History("db.one", "db.two")
    first = instance(store, None, history)
    first.keep(key("latin1", "db.one"))
    first.keep(key("utf8", "db.two"))
    with pytest.raises(
        PartitionsChanged, match=r"for topic t in the form latin1\. .* in the form utf8"
    ):
        first.keep(key("utf8", "db.one"))
    with pytest.raises(PartitionsChanged):
        instance(store, first.known, history).keep(key("utf8", "db.one"))
    assert history.warnings == []
    accepted = instance(store, saved("latin1", "utf8", "?"), history)
    accepted.keep(key("gbk", "db.new"))
    assert accepted.known == saved("latin1", "utf8", "?", "gbk"), "a new table takes nothing"
    accepted.keep(key("utf8", "db.one"))
    assert accepted.known == saved("latin1", "utf8", "gbk")
    with pytest.raises(PartitionsChanged):
        accepted.keep(key("latin1", "db.two"))
    again = instance(store, accepted.known, history)
    again.keep(key("utf8", "db.one"))
    assert again.known == saved("latin1", "utf8", "gbk")


def test_an_acceptance_is_taken_once_although_the_relay_was_killed_before_its_record() -> None:
    store = Store()
    instance(store, None, History()).keep(key("latin1", "db.one"))
    for _ in range(2):
        mine = instance(store, saved("latin1", "?"), History())
        mine.keep(key("utf8", "db.one"))
        assert mine.known == saved("latin1", "utf8")


def test_a_form_of_a_shard_waits_for_zookeeper_unless_the_record_has_it() -> None:
    store = Store()
    instance(store, None, History()).keep(key("latin1", "db.one"))
    store.is_away = True
    mine = instance(store, saved("latin1"), History())
    mine.keep(key("latin1", "db.one"))
    with pytest.raises(StoreUnreachable):
        mine.keep(key("utf8", "db.two"))
    with pytest.raises(StoreUnreachable):
        instance(store, None, History()).keep(key("latin1", "db.one"))
    store.is_away = False
    mine.keep(key("utf8", "db.two"))


def test_the_record_stops_a_shard_where_zookeeper_lost_the_forms_of_its_table() -> None:
    mine = instance(Store(), saved("latin1"), History())
    with pytest.raises(PartitionsChanged):
        mine.keep(key("utf8", "db.one"))
    mine.keep(key("latin1", "db.two"))
    accepted = instance(Store(), saved("latin1", "?"), History())
    accepted.keep(key("utf8", "db.one"))
    assert accepted.known == saved("latin1", "utf8")


def test_labels_that_are_appended_are_no_other_form_of_a_shard() -> None:
    store = Store()
    mine = instance(store, None, History())
    mine.keep(key("enum:aaaa", "db.one"))
    mine.keep(key("enum:aaaabbbb", "db.one"))
    mine.keep(key("enum:cccc", "db.two"))
    assert mine.known == saved("enum:aaaabbbb", "enum:cccc")
    with pytest.raises(PartitionsChanged):
        mine.keep(key("enum:cccc", "db.one"))
