"""Runs the instances of this process: elect, lead, retry, resign, stop.

May import every other package of the pipeline; none of them imports it.
"""
