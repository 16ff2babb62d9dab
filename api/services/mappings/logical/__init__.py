"""The active mapping set as logical tables, with the real tables that instances have read."""
