"""Mapping documents and mapping sets in ZooKeeper, and which instances feed which topic.

May import the settings, the model, `relay.zk` and the JSON reader and paths of `relay.state`.
"""
