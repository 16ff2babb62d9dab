"""The schema registry: the only package that imports its client."""

from relay.registry.schema_registry import SchemaRegistry

__all__ = ["SchemaRegistry"]
