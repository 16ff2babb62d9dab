"""Child processes: ports, folders, start, stop, and their end when the parent process dies.

Does not import `deploy.embedded.servers`: each server is a subclass of ServerProcess there.
"""
