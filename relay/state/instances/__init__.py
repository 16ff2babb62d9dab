"""What ZooKeeper stores about each instance: status, notes, flow, copy requests, and settings that
were defined at run time.

It may import the settings, the model, `relay.zk`, and the JSON reader and paths of `relay.state`.
"""
