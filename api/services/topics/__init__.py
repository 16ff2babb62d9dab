"""Topics of the mapping, and who reads them."""

from api.services.topics.topic_directory import TopicDirectory, TopicPartitions, TopicReport

__all__ = ["TopicDirectory", "TopicPartitions", "TopicReport"]
