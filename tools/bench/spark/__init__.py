"""Measures the Spark jobs for each sink."""
