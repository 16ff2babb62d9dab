"""Code that runs before an endpoint: checks of hosts, times and body sizes; the count of answers.

May import `api.errors`, and no router, service or model of the admin.
"""
