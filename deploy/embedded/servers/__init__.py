"""One class for each server of tests and demo: databases, Kafka, ZooKeeper, Hadoop, Spark.

May import `deploy.embedded.fetching` and `deploy.embedded.processes`.
"""
