"""Compiled code for message formats with envelopes, which contain the row before and after a
change.
"""
