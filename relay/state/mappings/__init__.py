"""Mapping documents and mapping sets in ZooKeeper, and which instances publish to which topic.

It may import the settings, the model, `relay.zk`, and the JSON reader and paths of `relay.state`.
"""
