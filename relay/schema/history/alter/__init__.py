"""ALTER TABLE and statements about indexes: the table after them."""
