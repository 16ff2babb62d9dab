"""Reads descriptions of tables, as they are now, from the server's catalogue (information_schema
and SHOW).
"""
