"""Models of the protocols, small enough that tests explore every order of events."""
