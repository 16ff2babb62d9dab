"""A model of tables that move to other topics, and of the groups that follow them."""
