"""Splits SQL text into tokens, and reads them with a cursor."""
