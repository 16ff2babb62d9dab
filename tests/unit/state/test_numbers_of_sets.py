"""A saved set gets a number that neither ZooKeeper nor a position record has used."""

from collections.abc import Sequence
from typing import Any

import pytest

from relay.errors import BrokerUnreachable, NodeMissing
from relay.state import MappingStore, Note, Paths, StoredSet
from relay.zk import Create, Node, Step

NOTE = Note("ann", "edit", 1)
A, B = {"dbs": "[1]"}, {"dbs": "[2]"}


class Nodes:
    """The nodes of a ZooKeeper in memory; `nodes` can be put back to an older state."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def find(self, path: str, *, synced: bool = False) -> Node | None:
        del synced
        return self.nodes.get(path)

    def get(self, path: str) -> Node:
        if (node := self.nodes.get(path)) is None:
            raise NodeMissing(path)
        return node

    def children(self, path: str, *, synced: bool = False) -> tuple[str, ...]:
        del synced
        below = f"{path}/"
        return tuple({each[len(below) :].split("/")[0] for each in self.nodes if below in each})

    def ensure(self, path: str) -> None:
        """Parents need no node of their own here."""

    def commit(self, steps: Sequence[Step]) -> None:
        for step in steps:
            assert isinstance(step, Create) is (step.path not in self.nodes)
            version = 0 if isinstance(step, Create) else self.nodes[step.path].version + 1
            value: Any = getattr(step, "value", b"")
            self.nodes[step.path] = Node(value, version, None, 0)


class Installation:
    """A mapping store, and the number that the position records name."""

    def __init__(self) -> None:
        self.session = Nodes()
        self.recorded = 0
        all_it_asks: Any = self.session
        self.store = MappingStore(all_it_asks, Paths("/roma"), lambda: self.recorded)

    def save(self, bodies: dict[str, str]) -> int:
        return self.store.save(self.store.current(), bodies, NOTE).number


def after_an_older_state_came_back() -> Installation:
    """Rows were published under set 3, and ZooKeeper is as it was when set 1 was saved."""
    here = Installation()
    here.save(A)
    older = dict(here.session.nodes)
    here.save(B)
    here.recorded = here.save(A)
    here.session.nodes = older
    return here


def test_numbers_follow_each_other_while_nothing_is_lost() -> None:
    here = Installation()
    for number, bodies in enumerate((A, B, A), 1):
        assert here.save(bodies) == number
        here.recorded = number
    assert here.save(A) == 3, "equal documents are no new set"
    assert here.store.roll_back(2, 3, NOTE).number == 4


def test_a_save_over_an_older_zookeeper_gets_a_number_above_all_records() -> None:
    here = after_an_older_state_came_back()
    assert here.save(B) == 4
    assert here.save(A) == 5


def test_equal_documents_over_an_older_zookeeper_become_a_set_above_all_records() -> None:
    here = after_an_older_state_came_back()
    before = here.store.current()
    assert here.save(A) == 4
    after = here.store.current()
    assert (after.bodies, after.record.versions) == (A, before.record.versions)
    here.recorded = 4
    assert here.save(A) == 4


def test_a_roll_back_over_an_older_zookeeper_gets_a_number_above_all_records() -> None:
    here = after_an_older_state_came_back()
    assert here.store.roll_back(1, 1, NOTE).number == 4


@pytest.mark.parametrize("bodies", [A, B], ids=["equal", "other"])
def test_without_the_records_nothing_is_saved(bodies: dict[str, str]) -> None:
    here = after_an_older_state_came_back()
    before = dict(here.session.nodes)

    def away() -> int:
        raise BrokerUnreachable("no broker answers")

    all_it_asks: Any = here.session
    store = MappingStore(all_it_asks, Paths("/roma"), away)
    with pytest.raises(BrokerUnreachable):
        store.save(store.current(), bodies, NOTE)
    with pytest.raises(BrokerUnreachable):
        store.roll_back(1, 1, NOTE)
    assert here.session.nodes == before


@pytest.mark.parametrize("is_apart", [True, False])
def test_a_set_over_those_of_another_store_says_so(is_apart: bool) -> None:
    here = Installation()
    here.save(A)
    stored = here.store.put_over(B, NOTE, 7, is_apart=is_apart)
    assert (stored.number, here.store.current().record.is_apart) == (8, is_apart)


def test_the_first_set_after_a_loss_gets_a_number_above_all_records() -> None:
    here = Installation()
    here.recorded = 7
    assert here.store.current() == StoredSet.empty()
    assert here.save(A) == 8
