"""Positions that are found by GTIDs: where to continue on another server, and where a GTID set ends
in a server's binlog.
"""
