"""What the operator wrote, as typed records (controller only)."""
