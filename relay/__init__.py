"""The relay: publishes row changes of MySQL and MariaDB binlogs to Kafka, each exactly once.

docs/architecture.md lists the packages. It imports neither `api` nor `spark_jobs` nor `deploy`.
"""
