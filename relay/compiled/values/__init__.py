"""The texts of values in compiled code: `.pxd` files hold what is compiled into their users, `.pyx`
files what is called.
"""
