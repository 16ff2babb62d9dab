"""Bodies that contain names or values of rows."""
