"""Compiled code that prints values: `.pxd` files contain inlined functions, `.pyx` files functions
that are called.
"""
