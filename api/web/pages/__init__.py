"""The addresses of the pages, one module for each section."""
