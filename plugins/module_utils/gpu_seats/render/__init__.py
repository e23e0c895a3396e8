"""Pure functions from a plan to Compose mappings, command lines and labels (controller only)."""
