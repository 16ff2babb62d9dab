"""Reads sources in threads: decodes events, follows the schema history, and fills the buffer.

Of the pipeline's packages it may import only `delivery`.
"""
