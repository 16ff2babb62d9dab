"""The commands of `roma`, one module for each group; importing a module registers its commands.

A command imports the packages that it needs inside its function, so that `roma --help` is fast.
"""
