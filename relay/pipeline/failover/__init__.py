"""Decides which database server an instance reads, and switches to the other one.

May import every package of the pipeline except `supervision`.
"""
