"""Computes the logical tables of the active mapping set, with the real tables that instances have
read.
"""
