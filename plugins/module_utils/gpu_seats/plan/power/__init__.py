"""Watts: what each protective device carries at its worst, what gives first, and what would change it."""
