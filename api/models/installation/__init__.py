"""Models of checks and backups of the installation."""
