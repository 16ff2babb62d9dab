"""What every job needs around its work: arguments, Spark session, jars, metrics, shutdown.

Of the job's packages only the four commands import it.
"""
