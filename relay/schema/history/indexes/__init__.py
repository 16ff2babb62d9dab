"""Computes the indexes of a table, and the unique key that identifies a row, as servers do."""
