"""The texts of values in compiled code: `.pxd` files hold inlined code, `.pyx` files hold called
functions.
"""
