"""The reading threads: source, decoder and schema history, up to the buffer.

Of the pipeline's packages it may import only `delivery`.
"""
