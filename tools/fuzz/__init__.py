"""Fuzzing of the decoder with damaged, truncated and hostile binlog events: the only allowed
results are rows and errors of the relay.
"""
