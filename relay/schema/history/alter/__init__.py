"""Computes a table after ALTER TABLE or a statement about indexes."""
