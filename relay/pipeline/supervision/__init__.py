"""Which instances run in this process, and the life of each: elect, lead, retry, resign, stop.

May import every other package of the pipeline; none of them imports it.
"""
