"""The pipeline: the only place that sees two rooms."""

from relay.pipeline.hosting import Hosting
from relay.pipeline.instance import Instance, InstanceState
from relay.pipeline.placement import Placement
from relay.pipeline.session import configuration_digest
from relay.pipeline.table_plan import row_printer
from relay.pipeline.wanted_instances import WantedInstances

__all__ = [
    "Hosting",
    "Instance",
    "InstanceState",
    "Placement",
    "WantedInstances",
    "configuration_digest",
    "row_printer",
]
