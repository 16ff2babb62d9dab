"""The admin: mappings, instances and relays over HTTP."""
