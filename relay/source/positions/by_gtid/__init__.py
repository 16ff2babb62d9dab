"""Places that are found by GTIDs: where another server is read on, and where a set of GTIDs ends in
a server's binlog.
"""
