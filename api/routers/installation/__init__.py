"""Endpoints of the installation as a whole."""
