"""The only package that connects to ZooKeeper."""

from relay.zk.client import SessionState
from relay.zk.forked_closer import ForkedCloser
from relay.zk.login import EVERYBODY, digest_identity
from relay.zk.node import ANY_VERSION, Check, Children, Create, Delete, Node, Replace, Step
from relay.zk.node_update import update_node
from relay.zk.session import Session
from relay.zk.session_closer import SessionCloser
from relay.zk.watch import Watch

__all__ = [
    "ANY_VERSION",
    "EVERYBODY",
    "Check",
    "Children",
    "Create",
    "Delete",
    "ForkedCloser",
    "Node",
    "Replace",
    "Session",
    "SessionCloser",
    "SessionState",
    "Step",
    "Watch",
    "digest_identity",
    "update_node",
]
