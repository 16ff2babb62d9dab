"""Paths stay below the root, whatever the names hold."""

from hypothesis import given
from hypothesis import strategies as st

from relay.settings import ZooKeeperSettings
from relay.state import Paths


def test_the_installation_stands_below_the_root() -> None:
    assert Paths.of(ZooKeeperSettings(hosts="h", root="/roma"), "roma").base == "/roma/roma"
    assert Paths.of(ZooKeeperSettings(hosts="h", root="/"), "roma").base == "/roma"
    assert (
        Paths.of(ZooKeeperSettings(hosts="h", root="a/b/"), "x").mapping_pointer
        == "/a/b/x/mappings/pointer"
    )


def test_numbers_sort_as_text() -> None:
    paths = Paths("/r")
    numbers = [9, 10, 99, 100, 1_000_000]
    assert sorted(paths.mapping_set(number) for number in numbers) == [
        paths.mapping_set(number) for number in numbers
    ]


@given(st.text(min_size=1))
def test_a_name_is_one_part_of_a_path(name: str) -> None:
    encodable = name.encode("utf-8", "replace").decode()
    assert Paths("/r").instance_status(encodable).count("/") == 4
    assert Paths("/r").mapping_document(encodable, 1).count("/") == 5
