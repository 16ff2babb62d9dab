"""Creates messages as the relay publishes them, for unit tests of consumers without a server."""

from relay.testing.made_messages import Clock, MadeMessage, MessageMaker

__all__ = ["Clock", "MadeMessage", "MessageMaker"]
