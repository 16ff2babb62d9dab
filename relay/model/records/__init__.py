"""The position record, its parts, and their stored form.

May import `relay.model` only. A change of a stored form needs a new format number.
"""
