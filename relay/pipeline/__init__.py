"""The pipeline: the only place that sees two rooms."""

from relay.pipeline.delivery.row_paths import paths_of_tables
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.pipeline.supervision.assignment_loop import Placement
from relay.pipeline.supervision.desired_instances import WantedInstances
from relay.pipeline.supervision.instance import Instance
from relay.pipeline.supervision.instance_status import InstanceState
from relay.pipeline.supervision.supervisor import Hosting

__all__ = [
    "Hosting",
    "Instance",
    "InstanceState",
    "Placement",
    "WantedInstances",
    "configuration_digest",
    "paths_of_tables",
]
