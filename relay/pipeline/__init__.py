"""The pipeline: the only place that sees two rooms."""

from relay.pipeline.instance import Instance, InstanceState
from relay.pipeline.session import configuration_digest

__all__ = ["Instance", "InstanceState", "configuration_digest"]
