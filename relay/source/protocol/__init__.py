"""The replication protocol: connection, packets, dump handshake, server facts and errors.

Of `relay.source` it may import `events`. Errors of pymysql are translated here into errors of the
relay.
"""
