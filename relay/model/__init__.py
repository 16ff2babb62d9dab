"""Immutable values that cross between packages, and pure rules on them.

Imports no other package of the relay and no library that does I/O. Every package may import it.
"""
