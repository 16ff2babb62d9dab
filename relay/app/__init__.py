"""Creates the objects of the relay process from its settings, and runs them."""

from relay.app.process import run
from relay.app.relay import Relay

__all__ = ["Relay", "run"]
