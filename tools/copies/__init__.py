"""First copy and reconciliation with more rows and load than the test suite has time for."""
