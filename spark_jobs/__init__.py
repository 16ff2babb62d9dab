"""The Spark jobs that keep copies of logical tables from the relay's topics.

Of the relay's packages they import only those for the message envelope, the mapping and the rules
of row filters.
"""
