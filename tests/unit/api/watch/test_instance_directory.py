"""Views of instances are made again only for a changed status."""

from types import SimpleNamespace
from typing import Any, cast

from api.services.instance_directory import InstanceDirectory
from relay.operations import ListedInstance
from relay.state import InstanceStatus


def test_a_view_is_the_same_object_while_its_status_is() -> None:
    listed: list[ListedInstance] = []
    unused = cast("Any", None)
    directory = InstanceDirectory(unused, unused, cast("Any", SimpleNamespace(all=lambda: listed)))
    crm, shop = InstanceStatus("crm", "RUNNING"), InstanceStatus("shop", "RUNNING")
    listed[:] = [ListedInstance(crm, relay_alive=True), ListedInstance(shop, relay_alive=True)]
    first = directory.instances()
    listed[:] = [ListedInstance(crm, relay_alive=True), ListedInstance(shop, relay_alive=False)]
    second = directory.instances()
    assert second[0] is first[0]
    assert (first[1].relay_alive, second[1].relay_alive) == (True, False)
    stopped = InstanceStatus("crm", "STOPPED", "BINLOG_PURGED")
    listed[:] = [ListedInstance(stopped, relay_alive=True)]
    (third,) = directory.instances()
    assert (third.state, third.code, first[0].state) == ("STOPPED", "BINLOG_PURGED", "RUNNING")
