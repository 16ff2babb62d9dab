"""Values of nodes are decoded once for each change."""

from relay.state.decoded_nodes import DecodedNodes
from relay.zk import Node


def node(value: bytes, changed: int, modified_ms: int = 1) -> Node:
    return Node(value, 0, None, modified_ms, changed)


class Texts(DecodedNodes[list[str]]):
    """Decodes texts, and notes the names that it decoded."""

    def __init__(self) -> None:
        self.names: list[str] = []
        super().__init__(self._text)

    def _text(self, name: str, value: bytes) -> list[str]:
        self.names.append(name)
        return [value.decode()]


def test_an_unchanged_node_gives_the_same_object() -> None:
    texts = Texts()
    before = texts.decoded(["a", "b"], [node(b"1", 7), node(b"2", 8)])
    after = texts.decoded(["a", "b"], [node(b"1", 7), node(b"3", 9)])
    assert (before, after) == ({"a": ["1"], "b": ["2"]}, {"a": ["1"], "b": ["3"]})
    assert after["a"] is before["a"]
    assert texts.names == ["a", "b", "b"]


def test_a_node_without_a_value_is_left_out_and_decoded_when_it_comes_again() -> None:
    texts = Texts()
    assert texts.decoded(["a", "b"], [node(b"1", 7), None]) == {"a": ["1"]}
    assert texts.decoded(["a"], [None]) == {}
    assert texts.decoded(["a"], [node(b"1", 7)]) == {"a": ["1"]}
    assert texts.names == ["a", "a"], "nothing is kept of a removed name"


def test_servers_that_lost_their_data_may_repeat_the_number_of_a_change() -> None:
    texts = Texts()
    assert texts.decoded(["a"], [node(b"1", 7, modified_ms=1)]) == {"a": ["1"]}
    assert texts.decoded(["a"], [node(b"2", 7, modified_ms=2)]) == {"a": ["2"]}
