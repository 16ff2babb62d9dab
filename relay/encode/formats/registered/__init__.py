"""Formats whose schemas are in a schema registry, except Avro, and the subjects of all of them.

Import the modules, because each needs separate libraries.
"""
