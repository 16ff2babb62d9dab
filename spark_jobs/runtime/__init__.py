"""The environment of every job: arguments, Spark session, jars, metrics, shutdown.

Of the jobs' packages only the four commands import it.
"""
