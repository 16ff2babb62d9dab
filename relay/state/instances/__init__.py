"""What ZooKeeper stores about each instance: status, notes, flow, and its own settings.

May import the settings, the model, `relay.zk` and the JSON reader and paths of `relay.state`.
"""
