"""Copies of tables under load, kills and ALTERs: see `python -m tests.snapshots --help`."""
