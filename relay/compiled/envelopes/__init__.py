"""The compiled printer of formats with envelopes."""
