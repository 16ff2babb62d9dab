"""Lists instances, and carries out operators' requests about them: pause, rate limits, start,
retire.

It may import what `relay.operations` may: `relay.state`, `relay.source`, settings and audit.
"""
