"""Computes charts, sparklines and time lines as coordinates for SVG."""
