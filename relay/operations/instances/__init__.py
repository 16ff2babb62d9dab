"""What operators see and order of instances: list, pause, limits, and the followed server.

May import what `relay.operations` may: `relay.state`, `relay.source`, settings and audit.
"""
