"""Access to a schema registry. No other package imports the registry's client."""

from relay.registry.schema_registry import SchemaRegistry

__all__ = ["SchemaRegistry"]
