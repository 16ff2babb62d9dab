"""What an edit of the mapping changes: the destinations of tables, and the topics that they leave
or get.
"""
