"""Reading with consumer groups, and writing dead letters. Only this package imports Kafka's
client.
"""
