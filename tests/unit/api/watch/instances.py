"""Instances as the watch's tests need them."""

from typing import Any

from api.models.instance import InstanceView
from relay.state import InstanceStatus


def view_of(
    name: str = "shop", state: str = "RUNNING", *, relay_alive: bool = True, **more: Any
) -> InstanceView:
    status = InstanceStatus(name, state, relay=more.pop("relay", "r1"), **more)
    return InstanceView.of(status, relay_alive=relay_alive)
