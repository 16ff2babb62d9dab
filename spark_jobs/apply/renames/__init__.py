"""Renamed columns followed into the copies: a change of a real table that is older than a rename
gets the new names (ADR 55).
"""
