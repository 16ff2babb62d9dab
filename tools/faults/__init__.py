"""The fault harness: real servers, real faults, and figures of what a committed reader lost, saw
twice or saw out of order.
"""
