"""Immutable values that several packages use, and pure rules about them.

Every package may import it. It imports no other package of the relay except `relay.errors`, and no
library that does I/O.
"""
