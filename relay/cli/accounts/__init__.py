"""Users of the admin and their tokens, on the command line."""
