"""What an edit of the mapping changes: destinations of tables, and topics that they leave."""
