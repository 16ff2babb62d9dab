"""The running relays and the leaders of instances, as ephemeral nodes of ZooKeeper.

It may import the model, `relay.zk`, and the JSON reader and paths of `relay.state`.
"""
