"""The pipeline: the only place that sees two rooms."""

from relay.pipeline.instance import Instance, InstanceState
from relay.pipeline.placement import Placement
from relay.pipeline.session import configuration_digest
from relay.pipeline.table_plan import row_printer

__all__ = ["Instance", "InstanceState", "Placement", "configuration_digest", "row_printer"]
