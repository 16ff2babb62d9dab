"""Which instances exist that neither this configuration file nor a document of ZooKeeper names."""

import pytest

from relay.operations.instances.listing import exists_elsewhere
from relay.state import InstanceStatus, RelayMember

OTHER = RelayMember("r2", instances=("crm",))


@pytest.mark.parametrize(
    ("status", "members", "exists"),
    [
        pytest.param(
            InstanceStatus("crm", "RUNNING", relay="r2"),
            [OTHER],
            True,
            id="of another relay's file",
        ),
        pytest.param(
            InstanceStatus("crm", "STANDBY", relay="r1"),
            [RelayMember("r1"), OTHER],
            True,
            id="taken over by another relay",
        ),
        pytest.param(
            InstanceStatus("crm", "RUNNING", relay="r2"),
            [],
            True,
            id="of another file, whose relays are down",
        ),
        pytest.param(
            InstanceStatus("crm", "ENDED", relay="r2"),
            [RelayMember("r2")],
            False,
            id="its relay has ended it",
        ),
        pytest.param(
            InstanceStatus("crm", "ENDED", relay="r2", run_time=True),
            [RelayMember("r2")],
            False,
            id="removed at run time",
        ),
        pytest.param(
            InstanceStatus("crm", "RUNNING", relay="r2", run_time=True),
            [],
            False,
            id="removed while its relay was down",
        ),
        pytest.param(
            InstanceStatus("crm", "RUNNING", relay="r2", run_time=True),
            [OTHER],
            True,
            id="removed, and ending",
        ),
    ],
)
def test_an_instance_exists_elsewhere(
    status: InstanceStatus, members: list[RelayMember], exists: bool
) -> None:
    assert exists_elsewhere(status, members) is exists
