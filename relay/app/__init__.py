"""The relay process, wired from its settings."""

from relay.app.process import run
from relay.app.relay import Relay

__all__ = ["Relay", "run"]
