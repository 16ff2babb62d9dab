"""The only door to ZooKeeper."""

from relay.zk.node import ANY_VERSION, Check, Create, Delete, Node, Replace, Step
from relay.zk.session import Session, SessionState
from relay.zk.watch import Watch

__all__ = ["ANY_VERSION", "Check", "Create", "Delete", "Node", "Replace", "Session", "SessionState", "Step", "Watch"]
