"""Takes items from the buffer and publishes the rows, statements and XA transactions in them.

May import the packages of the pipeline below it, from `checkpoint` to `delivery`.
"""
