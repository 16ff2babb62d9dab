"""Makes the messages of a chunk's rows: with compiled code where it can, else row by row."""
