"""Splits SQL text into tokens, and reads the tokens with a cursor. All readers of statements use
it.
"""
