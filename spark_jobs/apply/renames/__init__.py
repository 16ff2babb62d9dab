"""Renames columns of the copies as the source did. A change that is older than a rename of its real
table gets the new names (ADR 55).
"""
