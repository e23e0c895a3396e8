"""The offline command gpu-seats (controller only)."""
