"""Formats whose schemas are in a schema registry, except Avro; and the subjects of schemas, also
for Avro.

Import its modules, not the package: each module needs other libraries.
"""
