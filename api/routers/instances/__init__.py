"""Endpoints of one instance, one module for each subject."""
