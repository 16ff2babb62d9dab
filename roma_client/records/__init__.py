"""Records as changes: pure functions and values, without Kafka and without clocks."""
