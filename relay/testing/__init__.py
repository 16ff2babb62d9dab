"""Messages as the relay publishes them, for unit tests of consumers: no server is needed."""

from relay.testing.made_messages import Clock, MadeMessage, MessageMaker

__all__ = ["Clock", "MadeMessage", "MessageMaker"]
