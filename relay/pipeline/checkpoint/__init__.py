"""What one Kafka transaction publishes: its messages, the progress, and the position record.

May import the packages of the pipeline below `publishing`.
"""
