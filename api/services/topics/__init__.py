"""Reads the topics of the mapping, and the consumer groups that read them."""

from api.services.topics.topic_directory import TopicDirectory, TopicPartitions, TopicReport

__all__ = ["TopicDirectory", "TopicPartitions", "TopicReport"]
