"""The view data of the pages. Pure functions on the services' answers."""
