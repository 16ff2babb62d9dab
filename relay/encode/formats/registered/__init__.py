"""Formats whose schemas are in a schema registry, except Avro; and the subjects of schemas, also
for Avro.

Import the modules separately, because each module needs other libraries.
"""
