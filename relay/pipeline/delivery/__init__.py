"""Passes messages to Kafka: outbox, topics, size limits, rate limits, statistics.

Of the pipeline it may import only the modules beside the packages, such as `buffer`.
"""
