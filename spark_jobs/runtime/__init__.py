"""The environment of every job: arguments, Spark session, jars, metrics, shutdown.

Only the modules of the four commands import this package.
"""
