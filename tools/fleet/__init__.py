"""A simulated fleet: real ZooKeeper, elections, placement and statuses; no sources, no Kafka."""
