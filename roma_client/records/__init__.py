"""Converts records into changes: functions and values without Kafka and without clocks."""
