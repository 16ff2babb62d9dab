"""How the schema history follows an ALTER TABLE or a statement about indexes.

`alter_items` parses the items into `TableAlterations`; `altered_table` then computes the table
after them.
"""
