"""One look at a host: every tool asked at the same time, each with its own limit."""
