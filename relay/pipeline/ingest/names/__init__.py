"""The names of columns for table maps without names: the schema history of the source."""
