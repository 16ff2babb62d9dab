"""The pipeline: reads the changes of the sources and publishes them.

It is the only package that imports all of the packages that process a row: decode, schema, route,
partition, encode.
"""

from relay.pipeline.delivery.row_paths import paths_of_tables
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.pipeline.supervision.assignment_loop import AssignmentLoop
from relay.pipeline.supervision.desired_instances import DesiredInstances
from relay.pipeline.supervision.instance import Instance
from relay.pipeline.supervision.instance_status import InstanceState
from relay.pipeline.supervision.supervisor import Supervisor

__all__ = [
    "AssignmentLoop",
    "DesiredInstances",
    "Instance",
    "InstanceState",
    "Supervisor",
    "configuration_digest",
    "paths_of_tables",
]
