"""Reads the current descriptions of tables from the server's catalogue."""
