"""Settings of the jobs: what a copy is, where it is stored, and how its job runs.

May import `relay.settings` and the errors. Starts no Spark session.
"""
