"""What the addresses do."""
