"""A model of the delivery protocol, small enough that every order of events can be tried."""
