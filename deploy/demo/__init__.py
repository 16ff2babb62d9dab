"""The demo: the whole project on real servers, two shards → one logical database → Kafka → an equal
copy.
"""
