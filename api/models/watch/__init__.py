"""Bodies of answers with problems, time series and states of instances."""
