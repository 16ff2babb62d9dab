"""Makes the messages of a chunk's rows: with compiled code where possible, otherwise row by row."""
