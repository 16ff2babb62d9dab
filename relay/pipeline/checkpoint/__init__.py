"""The contents of one Kafka transaction: its messages, the progress, and the position record.

May import the packages of the pipeline below `publishing`.
"""
