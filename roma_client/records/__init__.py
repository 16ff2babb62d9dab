"""Converts records into changes. The code here neither calls Kafka nor reads a clock."""
