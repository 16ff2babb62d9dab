"""One run of a leader: producer, position and sources, from opening to their end."""
