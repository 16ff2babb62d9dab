"""The data of the pages' templates, computed from the services' results without input or output."""
