"""Lists instances, and carries out operators' requests about them: pause, rate limits, start,
retire.

Of `relay.operations` it may import only `peek`, `first_start`, `maintenance`, `placement`,
`wanted_snapshots` and `who`.
"""
