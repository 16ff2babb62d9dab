"""Documents with names or values of rows."""
