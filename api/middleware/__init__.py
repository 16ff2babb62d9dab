"""Code that runs before an endpoint: it checks hosts, times and body sizes, and counts answers.

May import `api.errors`, and no router, service or model of the admin.
"""
