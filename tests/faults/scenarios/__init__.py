"""Every scenario, by what the fault happens to."""

from tests.faults.scenarios import broker, cluster, commit, relay, source, topic, zookeeper

__all__ = ["broker", "cluster", "commit", "relay", "source", "topic", "zookeeper"]
