"""Checks copies after kills of jobs and servers."""
