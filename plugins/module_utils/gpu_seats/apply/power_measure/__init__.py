"""A measurement of a host's power: load raised card by card, watched, written down, ended with its watcher."""
