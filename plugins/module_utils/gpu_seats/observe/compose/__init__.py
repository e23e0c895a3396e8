"""What Docker Compose prints: progress, warnings, failures, and its rendered configuration."""
