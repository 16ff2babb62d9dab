"""The admin: reads and changes mappings and instances over HTTP, and shows the relays."""
