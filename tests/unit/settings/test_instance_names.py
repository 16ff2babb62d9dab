"""No instance has the transactional id of another producer of its installation."""

import pytest
from pydantic import ValidationError

from relay.pipeline.delivery.new_producer import second_transactional_id, transactional_id
from relay.settings import InstanceSettings

SOURCE = {"host": "db.example", "user": "relay", "password": "secret"}


def instance(name: str) -> InstanceSettings:
    return InstanceSettings.model_validate({"name": name, "source": SOURCE})


def test_a_name_that_would_be_a_second_id_is_refused() -> None:
    second = second_transactional_id("roma", instance("orders")).removeprefix("roma.")
    assert second == "second.orders"
    with pytest.raises(ValidationError, match="transactional ids of other producers"):
        instance(second)


@pytest.mark.parametrize("name", ["replay.orders", "erase"])
def test_names_of_the_other_producers_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=f"cannot be called '{name}'"):
        instance(name)


@pytest.mark.parametrize("name", ["second", "replay", "eraser", "a.second.b", "seconds.a"])
def test_names_that_only_resemble_them_are_accepted(name: str) -> None:
    assert transactional_id("roma", instance(name)) == f"roma.{name}"
