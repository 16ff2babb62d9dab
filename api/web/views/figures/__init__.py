"""Charts, sparklines and time lines as coordinates for SVG."""
