"""The whole idea at work on real servers: two shards → one logical database → Kafka → an equal
copy.
"""
