"""The demo: runs relay, admin and a Spark job on real servers. Two shards become one logical
database in Kafka, and Spark copies its tables.
"""
