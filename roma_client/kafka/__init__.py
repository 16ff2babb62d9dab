"""Reads topics with consumer groups, and writes dead letters. Only this package imports Kafka's
client.
"""
