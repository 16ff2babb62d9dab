"""Random DDL on real servers: the history that the relay follows is compared with
information_schema after every statement.
"""
