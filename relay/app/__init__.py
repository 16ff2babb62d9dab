"""The relay process, wired from its settings."""

from relay.app.process import Relay, run

__all__ = ["Relay", "run"]
