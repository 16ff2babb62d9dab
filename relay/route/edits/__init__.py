"""The effects of an edit of the mapping: where tables are published before and after it, and which
topics they leave or get.
"""
