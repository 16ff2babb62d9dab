"""Computes the data of the pages' templates from the services' results, without input or output."""
