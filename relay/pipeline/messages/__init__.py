"""From one event to its messages, and which printer makes them.

Of the pipeline's packages it may import only `delivery`.
"""
