"""One run of a leader: producer, position record and sources, from their opening to their end."""
