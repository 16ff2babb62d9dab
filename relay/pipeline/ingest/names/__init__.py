"""The names of columns for table maps that carry none: the history of the source's tables."""
