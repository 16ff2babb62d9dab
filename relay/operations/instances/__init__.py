"""Lists instances, and carries out operators' requests about them: pause, rate limits, start,
retire.

It may import `relay.state`, `relay.source`, the settings and the audit trail, as `relay.operations`
may.
"""
