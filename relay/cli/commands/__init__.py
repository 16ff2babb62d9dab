"""The commands of `roma`, one module for each group; an import registers its commands.

A command imports the packages that it needs inside its function, so that `roma --help` is fast.
"""
