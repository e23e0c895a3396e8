"""Simulated hardware of the lab host."""
