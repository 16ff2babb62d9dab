"""What the mapping documents mean, for people: the logical view, edits, merges, unmapped names."""
