"""Names of sources, real tables and mapping sets, and the patterns that match them.

May import `relay.model` only.
"""
