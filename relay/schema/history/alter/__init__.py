"""Computes what an ALTER TABLE, or a statement about indexes, does to a described table.

`alter_items` parses the items into `TableAlterations`. `altered_table` then computes the table
after them.
"""
