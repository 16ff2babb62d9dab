"""Services for mappings: the logical view, edits, merges, and unmapped tables."""
