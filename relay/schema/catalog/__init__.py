"""Tables as the server describes them now, read from its catalogue."""
