"""The forms in which keys are hashed for a topic, compared between tables and instances."""
