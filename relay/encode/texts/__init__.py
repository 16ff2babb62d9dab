"""The text forms of values in messages: JSON escapes, numbers, keys, and Java's notation.

May import `relay.model`, `relay.charsets` and the errors.
"""
