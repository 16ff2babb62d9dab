"""Makes messages from events, and chooses the printer that makes them.

Of the pipeline's packages it may import only `delivery`.
"""
