"""The way from a message to Kafka: outbox, topics, size limits, rate limits, figures.

Of the pipeline it may import only the modules beside the packages, as `buffer`.
"""
