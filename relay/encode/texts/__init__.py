"""The text forms of values in messages: JSON escapes, numbers, keys, and Java's notation.

May import only `relay.model`, `relay.charsets` and the errors.
"""
