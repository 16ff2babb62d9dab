"""Takes items from the buffer and publishes the rows, statements and XA transactions in them.

It may import the packages of the pipeline that it builds on: `checkpoint`, `copying`, `messages`,
`ingest`, `spooling` and `delivery`.
"""
