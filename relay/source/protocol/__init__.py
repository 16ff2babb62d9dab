"""The replication protocol: connection, packets, dump handshake, server facts and errors.

May import `events` of `relay.source`. Errors of pymysql end here as errors of the relay.
"""
