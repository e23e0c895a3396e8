"""Pure functions from declarations and observations to a plan (controller only)."""
