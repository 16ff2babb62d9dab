"""The pages of the mappings."""
