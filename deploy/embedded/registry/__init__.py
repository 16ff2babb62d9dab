"""A schema registry for tests."""

from deploy.embedded.registry.apicurio import Apicurio

__all__ = ["Apicurio"]
