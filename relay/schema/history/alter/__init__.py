"""ALTER TABLE and statements about indexes: what becomes of a table."""
