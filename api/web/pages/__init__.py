"""The endpoints of the pages, one module for each section."""
