"""What pages show of the services' answers: pure functions."""
