"""The mapping documents explained: the logical view, edits, merges, unmapped names."""
