"""Runs the instances of this process: they elect leaders, lead, retry, resign and stop.

It may import every other package of the pipeline; none of them imports it.
"""
