"""Passes messages to Kafka: outbox, topics, size limits, rate limits, statistics.

Of the pipeline it may import only modules that are in none of its packages, such as `buffer`.
"""
