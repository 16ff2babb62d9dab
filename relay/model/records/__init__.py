"""The position record, its parts, and their form in the position topic.

May import `relay.model` only. A change of the stored form needs a new format number.
"""
