"""Operator views and orders of instances: list, pause, limits, and the followed server.

Allowed imports are those of `relay.operations`: `relay.state`, `relay.source`, settings and audit.
"""
