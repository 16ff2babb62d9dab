"""First copy and proof at the size and under the load that the test suite has no time for."""
