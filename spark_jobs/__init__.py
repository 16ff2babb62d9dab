"""The Spark jobs that keep copies of logical tables from the relay's topics.

Of the relay they import the envelope, the mapping and the rules of row filters.
"""
